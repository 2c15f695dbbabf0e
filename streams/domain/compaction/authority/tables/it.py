"""Italian words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

ITALIAN: Final = Words(
    language="it",
    person="""
        utente utenti cliente clienti proprietario proprietaria titolare responsabile capo direttore direttrice
        direzione amministratore amministratrice operatore operatrice umano persona squadra famiglia collega gestore
        committente lei voi tu te lui loro vostra qualcuno
    """,
    thing="id nome interfaccia dati gruppo ruolo profilo sessione tabella",
    other="""
        io noi mi ci assistente agente modello sistema strumento script test prova prove compilatore registro log
        uscita output risultato risultati verifica server servizio api risposta comando programma messaggio file
        codice funzione commit misura documentazione analisi esecuzione
    """,
    assent="""
        approvato approvata approvati approvate approvò approva approvarono autorizzato autorizzata autorizzati
        autorizzate autorizzò autorizza preapprovato acconsentito acconsentì acconsente avallato ratificato
        preapprovata preapprovati preapprovate acconsentita acconsentiti acconsentite avallata avallati avallate
        ratificata ratificati ratificate
    """,
    speech="""
        chiesto chiesta chiede chiese chiedeva richiesto richiesta richiede preteso pretende ordinato ordinò
        insistito insiste vietato vietata vieta proibito proibita proibisce voluto vuole voleva desidera desiderava
        detto disse promesso incaricato chiesti chieste richiesti richieste ordinata ordinati ordinate insistita
        insistiti insistite vietati vietate proibiti proibite voluta voluti volute promessa promessi promesse
        incaricata incaricati incaricate
    """,
    weak="""
        confermato confermata conferma confermò permesso permessa permette permise consentito consentita consente
        accettato accettata accetta rifiutato rifiuta negato concesso concessa concede dato dà diede scritto scrisse
        risposto risponde indicato menzionato dichiarato spiegato deciso decide aspetta preferisce preferito
        suggerito proposto convalidato lasciato lascia dice confermati confermate permessi permesse consentiti
        consentite accettati accettate rifiutata rifiutati rifiutate negata negati negate concessi concesse data
        dati date risposta risposti risposte indicata indicati indicate menzionata menzionati menzionate dichiarata
        dichiarati dichiarate spiegata spiegati spiegate preferita preferiti preferite suggerita suggeriti suggerite
        proposta proposti proposte convalidata convalidati convalidate lasciata lasciati lasciate
    """,
    passive="""
        confermato confermata permesso permessa consentito consentita accettato accettata concesso concessa
        concordato concordata deciso richiesto richiesta confermati confermate permessi permesse consentiti
        consentite accettati accettate concessi concesse concordati concordate richiesti richieste
    """,
    auxiliary="è sono era erano stato stata stati state fu viene venne",
    agent="da dal dalla dall dallo dai dagli con",
    of="di del della dell dello dei degli da dal dalla dall parte",
    due="necessaria necessario richiesta manca attesa",
    noun="""
        permesso richiesta desiderio desideri volontà istruzione istruzioni ordine ordini conferma decisione
        autorità mandato divieto ok
    """,
    assent_noun="approvazione autorizzazione consenso benestare assenso nullaosta",
    giver="dato diede dà concesso concede ricevuto ottenuto ha abbiamo hanno espresso",
    with_="con dopo secondo sotto su previo previa",
    lack="senza richiede serve manca attesa finché salvo prima deve devono nessun nessuna",
    base="confermare approvare chiedere",
    do="vorrebbe desidererebbe",
    skip="ha hanno aveva già anche poi esplicitamente espressamente chiaramente dopo mi ci gli le non",
    join="e ed o ma",
    phrases="""
        come richiesto | come chiesto | come concordato | come desiderato | su richiesta | per ordine | via libera |
        luce verde | dato il consenso | d accordo a | senza chiedere | nessuna conferma | nessuna obiezione |
        d accordo | si autorizza | si autorizzò | si è autorizzato | si è autorizzata | si approva | si approvò |
        si è approvato | si è approvata | si vieta | si proibisce | si ordina
    """,
    exempt="strumenti approvati",
    passive_gap=3,
    verb_first=True,
    client="cliente clienti",
    according="secondo",
)
