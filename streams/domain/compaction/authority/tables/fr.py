"""French words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

FRENCH: Final = Words(
    language="fr",
    person="""
        utilisateur utilisateurs utilisatrice client clients cliente propriétaire responsable patron patronne chef
        gérant directeur directrice direction administrateur administratrice opérateur opératrice humain personne
        équipe famille collègue exploitant supérieur mandant commanditaire vous tu te toi elle votre vos quelqu
    """,
    thing="id nom interface données groupe rôle profil session entrée table",
    other="""
        je j nous me m assistant agent modèle système outil script test tests build pipeline compilateur journal
        journaux sortie résultat résultats vérification serveur service api réponse commande programme message
        fichier code fonction commit mesure documentation analyse exécution
    """,
    assent="""
        approuvé approuvée approuvés approuvées approuve approuva autorisé autorisée autorisés autorisées autorise
        autorisa préapprouvé préapprouvée consenti consent homologué entériné ratifié agréé acquiescé avalisé
        avalise préapprouvés préapprouvées homologuée homologués homologuées entérinée entérinés entérinées ratifiée
        ratifiés ratifiées agréée agréés agréées acquiescée acquiescés acquiescées avalisée avalisés avalisées
    """,
    speech="""
        demandé demandée demande demanda demandait exigé exige exigea ordonné ordonna ordonne insisté insiste
        insista interdit interdite interdits interdisait sommé prié voulu veut voulait souhaite souhaité souhaitait
        enjoint promis réclamé demandés demandées exigée exigés exigées ordonnée ordonnés ordonnées insistée
        insistés insistées sommée sommés sommées priée priés priées souhaitée souhaités souhaitées promise réclamée
        réclamés réclamées
    """,
    weak="""
        confirmé confirmée confirme confirma permis permise permet permettait permit accepté acceptée accepte refusé
        refusée refuse rejeté accordé accordée accorde accorda donné donne donna validé validée valide valida écrit
        écrivait précisé précise répondu répond indiqué mentionné déclaré expliqué souligné décidé décide attend
        attendait préfère préféré suggéré proposé mandaté chargé laissé laisse confirmés confirmées acceptés
        acceptées refusés refusées rejetée rejetés rejetées accordés accordées donnée donnés données validés
        validées précisée précisés précisées indiquée indiqués indiquées mentionnée mentionnés mentionnées déclarée
        déclarés déclarées expliquée expliqués expliquées soulignée soulignés soulignées décidée décidés décidées
        préférée préférés préférées suggérée suggérés suggérées proposée proposés proposées mandatée mandatés
        mandatées chargée chargés chargées laissée laissés laissées
    """,
    passive="""
        confirmé confirmée permis permise accepté acceptée accordé accordée validé validée décidé décidée convenu
        convenue mandaté demandé demandée refusé confirmés confirmées acceptés acceptées accordés accordées validés
        validées décidés décidées mandatée mandatés mandatées demandés demandées refusée refusés refusées
    """,
    auxiliary="est sont était étaient été fut furent sera",
    agent="par avec",
    of="de du des d par",
    due="nécessaire requise requis attendue manque",
    noun="""
        permission demande souhait souhaits volonté instruction instructions consigne consignes confirmation
        décision autorité mandat interdiction exigence requête ok
    """,
    assent_noun="approbation autorisation consentement assentiment accord aval validation agrément",
    giver="""
        donné donnée données donne donna accordé accordée accorda reçu reçoit obtenu obtient ont avait exprimé
    """,
    with_="avec sur selon après sous suivant conformément par",
    lack="sans nécessite requiert exige faut attente jusqu sauf si avant doit doivent aucun aucune pas",
    base="confirmer approuver demander",
    do="voudrait aimerait souhaiterait",
    skip="""
        a ont avait déjà aussi ensuite explicitement expressément clairement puis bien m nous vous l en y ne pas
    """,
    join="et ou mais puis",
    phrases="""
        comme demandé | comme convenu | comme souhaité | comme prévu avec | à la demande | a la demande | feu vert |
        donné son accord | d accord pour | sur ordre | sans confirmation nécessaire | aucune confirmation | a dit |
        ont dit | avait dit | dit que | aucune approbation | aucune objection | sans demander |
        d après l utilisateur | d après le client | d après la cliente | d après le responsable | d après vous
    """,
    exempt="requête http | outils approuvés | en accord avec la documentation",
    passive_gap=3,
    verb_first=True,
    client="client clients cliente clientes",
    according="selon",
)
