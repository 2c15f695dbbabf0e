"""English words of authority."""

from typing import Final

from streams.domain.compaction.authority.vocabulary import Words

ENGLISH: Final = Words(
    language="en",
    person="""
        user users customer customers owner owners operator operators human humans person people man woman boss
        manager managers supervisor leader admin administrator administrators maintainer maintainers reviewer
        reviewers stakeholder stakeholders requester requestor principal sponsor director officer ceo cto cfo ciso
        leadership team family employer colleague colleagues developer author you your yours he she they him her
        them his hers everyone everybody somebody someone anyone management
    """,
    thing="""
        id ids name names account accounts interface interfaces table tables model models agent agents input inputs
        data space group groups role roles profile profiles guide manual story stories permissions settings class
        module field object objects service endpoint directory home session sessions experience database record
        records key keys token tokens list form page pages repository schema file files flag config mode
    """,
    other="""
        i we me us it assistant agent model bot system tool tools script scripts test tests suite ci pipeline build
        builds compiler linter log logs output outputs result results run runs running check checks server service
        api response request command commands program process installer prompt benchmark experiment inspection
        search grep query trace stack measurement documentation docs readme page error message messages email mail
        document file files code function commit firewall browser kernel database debugger reproduction evidence
        analysis review issue ticket website specification spec
    """,
    assent="""
        approved approves preapproved authorized authorised authorizes authorises preauthorized preauthorised
        consented consents assented okayed oked greenlit greenlighted sanctioned endorsed endorses ratified
        acquiesced okays oks greenlights
    """,
    speech="""
        asked asks told tells instructed instructs insisted insists demanded demands begged urged urges commanded
        forbade forbids wants wanted wishes wished agreed agrees pleaded advised invited persuaded promised
        reassured
    """,
    weak="""
        requested requests confirmed confirms allowed allows permitted permits accepted accepts acknowledged
        acknowledges granted grants said says stated states stressed mentioned mentions wrote writes replied replies
        answered responded declared announced explained indicated clarified noted specified specifies emphasized
        expects expected prefers preferred decided decides directed ordered orders likes loved rejected rejects
        refused refuses denied declined prohibited prohibits banned disallowed vetoed objected authorizing approving
        requesting asking confirming allowing permitting insisting demanding wanting waived waives delegated
        delegates trusts trusted entrusted ruled cleared validated verified signed suggested suggests proposed
        proposes recommended recommends gave gives let lets desires desired chose selected opted intends intended
        hopes hoped enabled stipulated mandated mandates
    """,
    passive="""
        requested confirmed allowed permitted granted instructed told asked agreed ordered directed forbidden
        prohibited disallowed banned mandated waived delegated entrusted welcomed encouraged invited
    """,
    auxiliary="was were is are been being be got gets am",
    agent="by with",
    of="from of by with",
    noun="""
        permission request wish wishes desire instruction instructions demand demands agreement confirmation
        directive decision mandate authorization authorisation authority clearance ok okay nod preference intention
        veto intent intentions
    """,
    assent_noun="""
        approval approvals consent blessing preapproval acceptance acquiescence endorsement sanction signoff
    """,
    giver="""
        gave given gives granted grants obtained received receives secured got gotten issued expressed voiced
        provided communicated conveyed signed
    """,
    with_="with upon under following after per on at by",
    lack="""
        without requires require required needs need needing awaiting awaits pending until unless if whether must
        should cannot lacks lacking missing no ask asking cant
    """,
    due="needed required pending missing outstanding necessary awaited",
    base="""
        ask approve authorize authorise request confirm allow permit want wish agree consent insist demand tell say
        instruct order forbid accept prefer object mind
    """,
    do="did do does would didn doesn don wouldn",
    skip="""
        t has have had also already just then now later again explicitly clearly expressly verbally repeatedly
        previously earlier finally personally kindly even really specifically always often once never still first
        been currently not successfully
    """,
    join="and or but then while whereas also",
    phrases="""
        as requested | as instructed | as agreed | as asked | as discussed | as ordered | as wished | as desired |
        as directed | as confirmed | as promised | as per | per request | on request of | upon request |
        at the request | at request | on behalf of | by order of | on orders from | under orders | their approval |
        their consent | their permission | their request | their instructions | their wish | user needs |
        user requires | customer needs | customer requires | owner needs | owner requires | he needs | she needs |
        they need | you need | on their behalf | on his behalf | on her behalf | gave the go | the go ahead |
        green light | green lighted | signed off | sign off from | gave the ok | gave a thumbs up | thumbs up from |
        pre approved | pre authorized | pre authorised | pre approval | have permission | have approval |
        has approval | had approval | have consent | has consent | has permission | had permission |
        permission was given | permission from | with permission | by permission | full authority | is ok with |
        is okay with | is fine with | was fine with | are fine with | no objections | no objection |
        raised no objection | do not need to ask | no need to ask | dont need to ask | need not ask | without asking |
        no confirmation needed | no confirmation is needed | no approval needed | no approval is needed |
        no further approval | no further confirmation | would like | is in favor | is in favour |
        had no problem with | user s go ahead | owner s go ahead | customer s go ahead | their go ahead |
        got a go ahead | got the go ahead | go ahead received | received the go ahead | received a go ahead |
        received go ahead | go ahead from | go ahead was | s orders | on orders | have sign off | got sign off |
        s sign off | sign off was | is happy with | is happy for | is on board | are on board | was happy with |
        on the say so | no concerns about | raised no concerns | is cool with | are cool with | is good with |
        is comfortable with | was ok with | was okay with | free rein | carte blanche | blanket approval
    """,
    exempt="""
        let s | approved tool | approved tools | approved task | approved tasks | authorized_keys | authorized keys |
        authorised keys | ordered list | ordered dict | allowed values | allowed hosts | requested url |
        requested file | expected output | expected result | expected value | required field | required fields |
        user agent | user agents | user space | request to the server |
        requests to the server | request to the api | requests to the api
    """,
    according="according",
    client="client clients",
    technical="""
        http https http2 grpc rpc rest soap api apis graphql websocket websockets tcp udp tls ssh sftp ftp smtp imap
        mqtt amqp dns ldap oauth oidc vpn mail email database db sql mysql postgres postgresql mongodb sqlite redis
        kafka rabbitmq elasticsearch s3 git docker kubernetes k8s sdk cli web browser mobile desktop chat proxy
        library timeout python java javascript typescript rust node
    """,
)
