"""Spanish words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

SPANISH: Final = Words(
    language="es",
    person="""
        usuario usuarios usuaria cliente clientes clienta propietario propietaria dueño dueña responsable jefe jefa
        gerente director directora dirección administrador administradora operador operadora humano persona equipo
        familia colega encargado usted ustedes tú ti te vosotros ella ellos ellas alguien
    """,
    thing="id nombre interfaz datos grupo rol perfil sesión tabla",
    other="""
        yo nosotros me nos asistente agente modelo sistema herramienta script prueba pruebas test tests compilador
        registro registros salida resultado resultados verificación servidor servicio api respuesta comando programa
        mensaje archivo fichero código función commit medición documentación análisis ejecución
    """,
    assent="""
        aprobado aprobada aprobados aprobadas aprobó aprueba aprobaron autorizado autorizada autorizados autorizadas
        autorizó autoriza preaprobado preaprobada consintió consentido avaló avalado ratificó ratificado
        preaprobados preaprobadas consentida consentidos consentidas avalada avalados avaladas ratificada
        ratificados ratificadas
    """,
    speech="""
        pidió pidieron pide pedía pedido pedida exigió exige exigido ordenó ordenado insistió insiste prohibió
        prohíbe prohibido prohibida mandó rogó quiere quería quiso quieren desea deseaba deseó dijo dijeron dice
        prometió instruyó pedidos pedidas exigida exigidos exigidas ordenada ordenados ordenadas prohibidos
        prohibidas
    """,
    weak="""
        solicitó solicita solicitado solicitada confirmó confirma confirmado confirmada permitió permite permitido
        permitida aceptó acepta aceptado aceptada rechazó rechazado negó denegó concedió concedido concedida otorgó
        otorgado dio dado escribió respondió indicó mencionó declaró explicó decidió decidido espera prefiere
        prefirió sugirió propuso validó validado dejó deja acordó encargó requirió solicitados solicitadas
        confirmados confirmadas permitidos permitidas aceptados aceptadas rechazada rechazados rechazadas concedidos
        concedidas otorgada otorgados otorgadas dada dados dadas decidida decididos decididas validada validados
        validadas
    """,
    passive="""
        solicitado solicitada confirmado confirmada permitido permitida aceptado aceptada concedido concedida
        otorgado otorgada acordado acordada decidido validado pedido solicitados solicitadas confirmados confirmadas
        permitidos permitidas aceptados aceptadas concedidos concedidas otorgados otorgadas acordados acordadas
        decidida decididos decididas validada validados validadas pedida pedidos pedidas solicitó pidió permitió
        confirmó aceptó concedió permite autoriza solicita
    """,
    auxiliary="fue fueron es son está están sido era eran ha se",
    agent="por con",
    of="de del por parte",
    due="necesario necesaria requerida pendiente falta",
    noun="""
        permiso solicitud petición deseo deseos voluntad instrucción instrucciones orden órdenes confirmación
        decisión autoridad mandato prohibición ok
    """,
    assent_noun="aprobación autorización consentimiento aval visto conformidad beneplácito",
    giver="dio dado concedió concedido otorgó recibido recibió obtenido obtuvo tiene tenemos hay expresó",
    with_="con tras según bajo por mediante previa",
    lack="sin requiere necesita falta pendiente hasta salvo si antes debe deben ningún ninguna",
    base="confirmar aprobar pedir",
    do="quisiera querría gustaría",
    skip="ha han había ya también luego explícitamente expresamente claramente después me nos le lo se no sí",
    join="y e o u pero",
    phrases="""
        como pidió | como solicitó | como se pidió | como se solicitó | como se acordó | según lo acordado |
        según lo solicitado | a petición | a solicitud | por orden | por encargo | luz verde | dio el visto bueno |
        visto bueno | dio su ok | sin preguntar | sin confirmación necesaria | no hace falta preguntar |
        sin objeciones | de acuerdo con borrar | está de acuerdo | están de acuerdo | estuvo de acuerdo |
        de acuerdo en que | da permiso | da el permiso | da su permiso | da autorización | da su autorización |
        da su aprobación | da su consentimiento | da el visto | da su visto | da el ok | da su ok | da orden |
        da la orden | da instrucciones
    """,
    exempt="herramientas aprobadas",
    passive_gap=3,
    verb_first=True,
    client="cliente clientes",
    according="según",
)
