"""German words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

GERMAN: Final = Words(
    language="de",
    person="""
        nutzer nutzers nutzerin benutzer benutzers benutzerin anwender anwenders anwenderin user kunde kunden kundin
        auftraggeber auftraggebers auftraggeberin chef chefs chefin besitzer besitzers besitzerin eigentümer inhaber
        inhaberin betreiber betreiberin bediener mensch menschen person leiter leiterin vorgesetzte vorgesetzter
        verantwortliche verantwortlicher zuständige administrator administratorin admin team familie kollege
        kollegin sie er ihnen ihm ihr du dir euch jemand mann frau geschäftsführung geschäftsleitung vorstand
    """,
    thing="""
        konto konten oberfläche tabelle name namen daten id gruppe rolle profil handbuch verzeichnis einstellungen
        sitzung eingabe eingaben
    """,
    other="""
        ich wir mir uns mich assistent agent modell system werkzeug skript test tests build pipeline compiler
        protokoll ausgabe ergebnis ergebnisse lauf läufe prüfung server dienst api antwort befehl programm meldung
        fehlermeldung datei code funktion commit messung dokumentation analyse suche mail
    """,
    assent="""
        genehmigt genehmigte genehmigten genehmigtes autorisiert autorisierte bewilligt bewilligte zugestimmt
        eingewilligt gebilligt billigte billigt freigegeben freigab abgesegnet befürwortet befürwortete beauftragt
        beauftragte beauftragten ermächtigt ermächtigte bevollmächtigt vorabgenehmigt gestattet gestattete
        einverstanden
    """,
    speech="""
        gebeten bittet verlangt verlangte verlangten gefordert forderte fordert aufgefordert angewiesen befohlen
        befahl befiehlt verboten verbot verbietet untersagt untersagte wünscht wünschte gewünscht gesagt sagte sagt
        meinte gemeint angeordnet ordnete versprochen beharrt möchte möchten wollte wollten versichert
    """,
    weak="""
        bat baten bestätigt bestätigte bestätigten erlaubt erlaubte erlaubten zugelassen ließ lässt angefordert
        beantragt erbeten erbat akzeptiert akzeptierte angenommen abgelehnt lehnte verweigert verweigerte stimmt
        stimmte erklärt erklärte schrieb schreibt geschrieben antwortete geantwortet erwähnt erwähnte betont betonte
        entschied entschieden beschlossen wollen erwartet erwartete bevorzugt bevorzugte gibt gab gegeben erteilt
        erteilte gewährt gewährte vorgegeben vorgeschlagen empfohlen wies weist festgelegt mitgeteilt teilte
        zugesagt sagen erlauben einräumte darf
    """,
    passive="""
        bestätigt erlaubt zugelassen angefordert beantragt erbeten akzeptiert angenommen abgelehnt verweigert
        erteilt gewährt entschieden beschlossen vereinbart verabredet zugesagt gewünscht vorgegeben
    """,
    auxiliary="wurde wurden wird werden worden ist sind war waren sei",
    agent="von vom durch seitens mit",
    of="von vom des der seitens meines unseres",
    noun="""
        erlaubnis wunsch wünsche wünschen wunsches bitte anweisung anweisungen auftrag auftrages auftrags
        bestätigung anordnung entscheidung vorgabe vorgaben verlangen anfrage verbot vollmacht befugnis weisung ok
        okay segen vereinbarung
    """,
    assent_noun="""
        genehmigung genehmigungen zustimmung einwilligung freigabe einverständnis billigung einverständnisses
        genehmigungs bewilligung
    """,
    giver="""
        erteilt erteilte gab gegeben gibt erhalten erhielt bekam bekommen hat habe haben hatte eingeholt gewährt
        liegt lag vorliegt vorlag
    """,
    with_="mit nach auf laut gemäß unter aufgrund dank per durch",
    lack="""
        ohne braucht benötigt erfordert fehlt fehlende ausstehend ausstehende bis sofern falls wenn bevor ob muss
        müssen soll kein keine keiner
    """,
    due="nötig erforderlich fehlt ausstehend benötigt gebraucht notwendig",
    base="bestätigen genehmigen verlangen wünschen fordern",
    do="würde würden hätte",
    skip="""
        hat habe haben hatte schon bereits auch dann ausdrücklich zuvor später nun nochmals wieder selbst mündlich
        dafür darum nicht bisher hatten habt hast mir mich uns
    """,
    join="und oder aber sowie sondern",
    phrases="""
        wie gewünscht | wie verlangt | wie besprochen | wie vereinbart | wie angewiesen | wie gefordert |
        wie erbeten | wie angefordert | auf wunsch | im auftrag | auf anweisung | laut anweisung | laut auftrag |
        laut wunsch | bestand auf | bestand darauf | grünes licht | gab sein ok | gab ihr ok | in ordnung für |
        ohne rückfrage | ohne rückfragen | keine rückfrage nötig | keine bestätigung nötig | keine genehmigung nötig |
        keine einwände | darf ohne | nutzer will | nutzerin will | benutzer will | anwender will | kunde will |
        kundin will | chef will | chefin will | auf bitte | auf bitten | nichts dagegen | keine bedenken |
        geht in ordnung | nutzer in ordnung | kunden in ordnung | chef in ordnung
    """,
    passive_gap=8,
    verb_first=True,
    verb_last=True,
    perfect="hat habe haben hatte hatten habt hast hätte hätten",
    object="dem den einem einen diesem diesen ihm ihnen dir euch",
    place="im in beim bei am für",
    according="laut zufolge gemäß",
)
