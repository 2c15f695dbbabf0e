"""Dutch words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

DUTCH: Final = Words(
    language="nl",
    person="""
        gebruiker gebruikers klant klanten eigenaar beheerder beheerders opdrachtgever baas mens mensen persoon
        manager leidinggevende verantwoordelijke team familie collega hij zij ze u jij je uw jouw hem haar hun
        iemand iedereen directie
    """,
    thing="naam interface tabel gegevens id groep rol profiel account map instellingen sessie invoer",
    other="""
        ik wij me mij ons assistent agent model systeem hulpmiddel script test tests build pijplijn compiler log
        logs uitvoer resultaat resultaten controle server dienst api antwoord opdracht programma melding foutmelding
        bestand code functie commit meting documentatie analyse
    """,
    assent="""
        goedgekeurd goedgekeurde goedkeurde geautoriseerd geautoriseerde ingestemd toegestemd gemachtigd machtigde
        gefiatteerd fiatteerde akkoord geaccordeerd vooraf-goedgekeurd instemde
    """,
    speech="""
        verzocht verzoekt eiste eist geëist opgedragen bevolen beval verbood verboden verbiedt wenste wenst gewenst
        zei zeiden gezegd zegt vertelde verteld beloofde aangedrongen drong wilde wilden gevraagd vroeg vroegen
        vraagt
    """,
    weak="""
        bevestigd bevestigde bevestigt toegestaan stond staat toeliet toegelaten geaccepteerd accepteerde geweigerd
        weigerde afgewezen schreef schrijft geschreven antwoordde geantwoord vermeldde besloot besloten beslist wil
        willen verwacht verwachtte gaf geeft gegeven verleend verleende keurde keurt stemde stemt gaat mag wenst
        aangevraagd voorgesteld
    """,
    passive="""
        bevestigd toegestaan toegelaten geaccepteerd geweigerd afgewezen besloten afgesproken verleend aangevraagd
        gevraagd verzocht
    """,
    auxiliary="werd werden wordt worden is zijn was waren",
    agent="door met",
    of="van door",
    due="nodig vereist ontbreekt",
    noun="""
        toestemming verzoek wens wensen bevel bevestiging instructie instructies besluit beslissing verbod volmacht
        machtiging bevoegdheid ok oké
    """,
    assent_noun="goedkeuring instemming akkoordverklaring fiat",
    giver="gaf gegeven geeft verleend verleende gekregen kreeg ontvangen heeft hebben had verkregen",
    with_="met na op volgens onder",
    lack="zonder vereist nodig ontbreekt tot tenzij indien als voordat moet moeten geen",
    base="bevestigen goedkeuren vragen verzoeken",
    do="zou zouden",
    skip="heeft hebben had al ook dan uitdrukkelijk eerder later nu opnieuw zelf mij me ons niet heb hadden",
    join="en of maar",
    phrases="""
        zoals gevraagd | zoals verzocht | zoals afgesproken | zoals besproken | op verzoek | in opdracht |
        groen licht | gaf zijn ok | geen bezwaar | zonder te vragen | geen bevestiging nodig |
        geen goedkeuring nodig | vindt het goed | vond het goed | vinden het goed | is akkoord
    """,
    passive_gap=8,
    verb_first=True,
    verb_last=True,
    perfect="heeft hebben heb had hadden",
    place="in bij voor tijdens",
    according="volgens",
)
