"""Words that sentences of a language can hardly do without, of languages in Latin letters.

The contract: data only: articles, pronouns, prepositions, conjunctions, auxiliaries, in small letters, by language
(ISO 639-1); names and nouns are none. Written by no native speakers; which are told how well is measured in ADR 0016.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KIN: Final = (
    frozenset({"da", "no", "sv"}),
    frozenset({"id", "ms"}),
    frozenset({"hr", "sl", "sr"}),
    frozenset({"cs", "sk"}),
    frozenset({"es", "ca", "gl", "pt"}),
    frozenset({"nl", "af"}),
    frozenset({"tr", "az"}),
)
"""Languages so near to each other that a profile of one covers what is written in another, or can't tell it apart."""

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "af": "die nie het van vir met aan ook maar dat sy hulle ons jy wat hierdie kan sal moet word was is en"
        " in om te by daar baie nog soos dit as of hoe waar deur oor meer geen na uit tot my",
        "az": "və bu bir ilə üçün də da ki olan amma çox daha kimi sonra əgər hər nə mən biz siz onlar olur var"
        " yox lakin artıq görə edir etmək deyil bütün həm yalnız üzrə bunu onun",
        "ca": "que els les una amb per del dels als aquest aquesta això però més molt també quan com són ser"
        " està han hem si no ja seva seu on perquè sense entre sobre fins encara tot tots cap",
        "cs": "je že se na to si do jako ale by jsem jsou byl byla bylo být nebo když pro při podle pouze také"
        " jeho její který která které tento tato toto tím této aby už jen ještě po od za ze ve pak před"
        " není mezi bude",
        "cy": "yn y yr ar wedi gan fod mae oedd sydd bod eu ei ac am fel hynny hyn nid nad ond oes roedd gael"
        " cael bydd maent dim hefyd neu pan rhai wrth sy",
        "da": "og det er som på til af for ikke med den han har jeg de at en et var vi men kan hun sig fra skal"
        " blev om nu når hvis eller hvor efter over også være bliver meget denne dette disse vil ved ud"
        " deres havde kun alle",
        "de": "und der die das ist nicht ein eine einen einem einer zu mit auf für von dem den des sich auch es"
        " im wird werden wurde sind ich sie wir ihr aber oder wenn als wie nach bei aus nur noch über"
        " durch kann hat haben zur zum vom dass diese dieser dieses sein seine war um bis bereits sowie"
        " mehr keine alle",
        "en": "the of and to in is it that was for on are with as be at by this have from or an not but which"
        " you all were can has had will one when there their we what if would who been more no so its out"
        " do about up into than other then some only these could our any each how such like also after"
        " should must i he she they my your me his her him them us may just now over use using via per"
        " most where while because new see please does did",
        "eo": "la kaj estas de en al ne mi li ŝi ĝi ili ni vi kiu kio tiu ĉi sed ankaŭ por kun pri estis havas"
        " povas devas el aŭ tre pli ol jam nun kiel kiam se tute nur ĉar",
        "es": "el la los las un una unos que de en y a por con para no se lo es del al como más pero sus su le"
        " ya o este esta estos estas sí porque entre cuando muy sin sobre también me hasta hay donde quien"
        " desde todo nos durante todos uno les ni contra otros ese eso ante ellos esto antes algunos qué"
        " yo otro otra él ha han fue son está están ser era tiene puede debe después",
        "et": "ja on ei et see ta ma oli kui aga ka mis või ning seda olid kes nad me te oma nii siis veel"
        " välja juba pole üks kõik ole selle peab saab võib pärast enne üle ilma koos kuid mida tema nende"
        " sest",
        "eu": "eta da ez du dira bat zen hau ere baina dute egin dela izan duen beste bere ditu oso hori baino"
        " edo zuen behar dago dituzte gero arte guztiak nahi bezala",
        "fi": "ja on ei se että hän oli mutta ovat olla kun niin tai myös jos vain joka jotka hänen ole sitten"
        " kuin nyt mitä tämä tämän sen siitä sekä ennen jälkeen kaikki minä sinä he me te voi pitää mukaan"
        " ilman kanssa sillä koska ollut siellä niiden vielä",
        "fr": "le la les de des un une et est en du que qui dans pour pas sur au aux plus par avec ce cette ces"
        " il elle ils elles nous vous je se sa son ses leur leurs mais ou où comme été être sont était ont"
        " ne si tout tous aussi fait même sans sous entre après avant doit peut lors très donc car cela y"
        " lui",
        "ga": "agus an na is ar go bhí tá ag le sé sí ach seo sin ní níl chun mar nó gur raibh atá leis faoi"
        " bhfuil aon iad siad muid air ann roimh tar éis gach féidir",
        "gl": "que de unha un non para con como máis pero polo pola dos das ao aos ten son foi está tamén xa ou"
        " se o a os as na no nas nos dun dunha sen cando porque",
        "ha": "da na ta ya su ne ce ba za wannan wani don kuma amma cikin daga zuwa kan sai idan wanda wadanda"
        " akwai yana tana suna muna kamar",
        "hr": "je i u na da se su za od s sa koji koja koje ne to kao ali iz što bi bio bila bilo ili do po"
        " nije samo kako te nakon prije biti može ovo ova ovaj sve još već kada ako jer pri između sam smo"
        " nisu kod svoje njegov njihov",
        "ht": "ki nan pou yo li pa ak gen se yon sa nou mwen te sou men tout lè fè w m ap konn tankou paske avèk ankò",
        "hu": "a az és hogy nem is egy ez van de volt csak meg már ha még mint vagy azt ezt aki ami el ki kell"
        " lesz pedig nincs után között minden majd minél lehet voltak vannak mert akkor úgy így sem ezek"
        " azok alatt szerint",
        "id": "yang dan di ke dari untuk dengan pada ini itu adalah tidak akan dalam oleh juga sudah atau bisa"
        " ada saya kami kita mereka dia telah dapat karena sebagai harus lebih belum setelah sebelum jika"
        " namun hanya semua para saat agar bahwa tersebut seperti ia masih",
        "is": "og að er það ekki var sem á um við með hann hún en til fyrir af þeir þær þau ég hefur verið vera"
        " þetta þessi eða eru voru frá eftir þegar hafa verður mjög einnig",
        "it": "il lo la i gli le un uno una di che è e in a per non con si da del della dei delle degli nel"
        " nella al alla ai alle sono come ma più anche se ha hanno era questo questa questi queste essere"
        " stato stata io ci dal dalla sul sulla o dopo prima quando perché tra fra deve può cui loro suo"
        " sua quindi ogni tutti",
        "lt": "ir yra kad į su iš ne tai bet kaip ar buvo jis ji jie mes aš už apie per po iki nuo taip tik jau"
        " dar būti šis ši arba kuris kuri kurie jų prieš visi nėra bus gali turi pagal",
        "lv": "un ir ka uz ar no par nav bet tas tā kas kā tika bija es viņš viņa viņi mēs vai arī pēc līdz"
        " tikai jau vēl būt šis šī tiek pirms visi lai kad jo var kurš kura savu",
        "mt": "u li ta il l fil mill huwa hija mhux dan din kien kienet iżda kif għal fuq biex minn tal jew"
        " ukoll wara qabel kollha għandu",
        "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als maar bij nog uit naar dan"
        " wordt door over ze hij ik wij we je deze dit die was heeft hebben kan worden werd zou zal moet"
        " alleen of tot geen meer zonder onder tussen na voordat omdat wat wie waar hun",
        "no": "og det er som på til av for ikke med den han har jeg de at en et var vi men kan hun seg fra skal"
        " ble om nå når hvis eller hvor etter over også være blir mye denne dette disse vil ved ut deres"
        " hadde bare alle",
        "pl": "i w na z się nie że do to jest o jak ale po za od przez dla czy są był była było być oraz lub"
        " tylko już jego jej ich tego tym ten ta te który która które przed przy może został została"
        " zostały jeszcze jeśli gdy kiedy między także więc bez nad pod ma mają jako aby niż"
        " ze bo musi muszą można należy żeby których którzy będzie będą we",
        "pt": "o a os as um uma de do da dos das que e é em no na nos nas para com não por mais como mas se foi"
        " ao aos ele ela eles seu sua ou ser quando muito já também só pelo pela até isso entre depois sem"
        " mesmo está estão são tem têm este esta esse essa nós você à às foram após antes deve pode sobre"
        " todos",
        "ro": "și în de la cu pe nu că un o este care a din pentru sunt mai ce se să au dar fost lui ei prin"
        " sau dacă când după până fără toate această acest acestea era fi va fiind ca numai între trebuie"
        " poate cele cel aceasta",
        "sk": "je že sa na to si do ako ale by som sú bol bola bolo byť alebo keď pre pri podľa len tiež jeho"
        " jej ktorý ktorá ktoré tento táto toto aby už ešte po od za zo vo potom pred nie medzi bude",
        "sl": "je in na da se so za od s z ki ne to kot pa ali iz kaj bi bil bila bilo do po ni samo kako ter"
        " pred biti lahko ta te tega še že ko če ker pri med sem smo niso vse tudi",
        "so": "waa oo iyo ka ku u in la uu ay wax waxaa ayaa aan ah si kale sida lagu loo ma laga kuwa hadda markii",
        "sq": "të në dhe për një me është nga që e i më se si do ka nuk por ky kjo janë ishte kishte duke vetëm"
        " pas para edhe mund duhet ata ajo",
        "sv": "och det är som på till av för inte med den han har jag de att en ett var vi men kan hon sig från"
        " ska blev om nu när eller där efter över också vara blir mycket denna detta dessa vill vid ut"
        " deras hade bara alla",
        "sw": "ya wa na kwa ni katika la za cha kuwa hii hiyo huo huu yake lakini kama pia au sana baada kabla"
        " hadi wake yao ambayo ambao si hakuna bila kila wote watu",
        "tl": "ang ng sa mga na at ay hindi ito ko mo siya sila kami tayo para kung pero lang din rin may nang"
        " pa naman isang ni kay dahil kapag niya nila bago lahat",
        "tr": "ve bir bu için ile da de çok daha gibi olarak ne var mi ki o ama en sonra kadar olan değil ben"
        " sen biz siz onlar her şey yok ise veya ya nasıl göre önce bunu bunun tüm oldu olduğu edildi"
        " yapıldı ancak şu hem sadece tarafından üzerinde içinde eğer olduğunu gerekiyor",
        "uz": "va bu bir uchun bilan ham deb emas edi bor yoʻq lekin kerak agar har juda keyin qadar kabi men"
        " biz ular boʻlgan boʻlib hamda shu uning bo'lgan yo'q",
        "vi": "và của là có cho không được một các những trong với này đã để khi từ người như trên đến cũng về"
        " nhưng vào đó phải hoặc nếu tôi chúng bạn anh sẽ nên lại ra bởi sau trước còn rất chỉ đang",
    }.items()
}

LETTERS: Final[Mapping[str, str]] = {
    "az": "çəğıöşü",
    "cs": "áčďéěíňóřšťúůýž",
    "da": "æøå",
    "de": "äöüß",
    "es": "áéíñóúü",
    "et": "äõöüšž",
    "fi": "äöå",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áðéíóúýþæö",
    "it": "àèéìòù",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "no": "æøå",
    "pl": "ąćęłńóśźż",
    "pt": "áâãàçéêíóôõú",
    "ro": "ăâîșțşţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sr": "čćđšž",
    "sv": "åäöé",
    "tr": "çğıöşü",
    "vi": "ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}
"""Letters beyond the 26 by language; where a language is left out, its letters tell nothing."""
