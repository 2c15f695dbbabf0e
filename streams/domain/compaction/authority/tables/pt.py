"""Portuguese words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

PORTUGUESE: Final = Words(
    language="pt",
    person="""
        usuário usuários usuária utilizador utilizadores utilizadora cliente clientes proprietário proprietária dono
        dona responsável chefe gerente diretor diretora direção administrador administradora operador operadora
        humano pessoa equipe equipa família colega você vocês tu ele ela eles elas alguém
    """,
    thing="id nome interface dados grupo papel perfil sessão tabela",
    other="""
        eu nós me nos assistente agente modelo sistema ferramenta script teste testes compilador registro registros
        saída resultado resultados verificação servidor serviço api resposta comando programa mensagem arquivo
        ficheiro código função commit medição documentação análise execução
    """,
    assent="""
        aprovado aprovada aprovados aprovadas aprovou aprova aprovaram autorizado autorizada autorizados autorizadas
        autorizou autoriza consentiu consentido avalizou ratificou ratificado homologado consentida consentidos
        consentidas ratificada ratificados ratificadas homologada homologados homologadas
    """,
    speech="""
        pediu pediram pede pedia pedido pedida exigiu exige exigido ordenou ordenado insistiu insiste proibiu proíbe
        proibido proibida mandou quer queria quis querem deseja desejava desejou disse disseram diz prometeu
        instruiu pedidos pedidas exigida exigidos exigidas ordenada ordenados ordenadas proibidos proibidas
    """,
    weak="""
        solicitou solicita solicitado solicitada confirmou confirma confirmado confirmada permitiu permite permitido
        permitida aceitou aceita aceito aceitado rejeitou rejeitado negou recusou concedeu concedido concedida deu
        dá dado escreveu respondeu indicou mencionou declarou explicou decidiu decidido espera prefere preferiu
        sugeriu propôs validou validado deixou deixa acordou encarregou requereu solicitados solicitadas confirmados
        confirmadas permitidos permitidas aceitos aceitas aceitada aceitados aceitadas rejeitada rejeitados
        rejeitadas concedidos concedidas dada dados dadas decidida decididos decididas validada validados validadas
        concorda concordou concordam liberou libera
    """,
    passive="""
        solicitado solicitada confirmado confirmada permitido permitida aceito aceita concedido concedida acordado
        acordada combinado decidido validado pedido solicitados solicitadas confirmados confirmadas permitidos
        permitidas aceitos aceitas concedidos concedidas acordados acordadas combinada combinados combinadas
        decidida decididos decididas validada validados validadas pedida pedidos pedidas
    """,
    auxiliary="foi foram são está estão sido era eram se tinha",
    agent="por pelo pela pelos pelas com",
    of="de do da dos das por pelo pela parte",
    due="necessária necessário requerida pendente falta",
    noun="""
        permissão solicitação pedido desejo desejos vontade instrução instruções ordem ordens confirmação decisão
        autoridade mandato proibição ok
    """,
    assent_noun="aprovação autorização consentimento aval anuência concordância",
    giver="deu dado dá concedeu concedido recebido recebeu obtido obteve tem temos há expressou",
    with_="com após segundo sob conforme mediante",
    lack="sem requer precisa falta pendente até salvo antes deve devem nenhum nenhuma",
    base="confirmar aprovar pedir",
    do="gostaria quereria",
    skip="já também então explicitamente expressamente claramente depois me nos lhe se não tem havia",
    join="e ou mas",
    phrases="""
        como pediu | como solicitado | como pedido | como combinado | como acordado | conforme solicitado |
        conforme pedido | a pedido | por ordem | luz verde | sinal verde | deu o aval | deu o ok | sem perguntar |
        sem confirmação necessária | não é preciso perguntar | sem objeções
    """,
    exempt="ferramentas aprovadas",
    passive_gap=3,
    verb_first=True,
    client="cliente clientes",
    according="segundo",
)
