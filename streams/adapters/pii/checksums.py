"""Check digits of national numbers: pure arithmetic over the characters of one number.

The contract: each function takes a number without separators, letters in upper case, and says whether its check
digits and, where it holds one, its date are right. What has the wrong length or alphabet is wrong, never an error.
Each is named after the authority's number it checks; the rule is in its docstring.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

_LETTERS_OF_23: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_CHINESE_CHECK: Final = "10X98765432"
_TWO_CHECKS_MODULUS: Final = 11
_TEN: Final = 10
_NOT_A_CHECK: Final = "0123456789"


def digits(number: str) -> list[int]:
    """Return the digits of a number; ASCII ones only, so that nothing else counts as one."""
    return [ord(character) - 48 for character in number if character in _NOT_A_CHECK]


def weighted(number: Sequence[int], weights: Sequence[int]) -> int:
    """Return the sum of digits by their weights; the shorter of both ends it."""
    return sum(digit * weight for digit, weight in zip(number, weights, strict=False))


def is_date(year: int, month: int, day: int) -> bool:
    """Say whether a day exists."""
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


def is_short_date(year: int, month: int, day: int) -> bool:
    """Say whether a day exists in 1900 + year or 2000 + year."""
    return is_date(1900 + year, month, day) or is_date(2000 + year, month, day)


def is_repeated(number: Sequence[int]) -> bool:
    """Say whether all digits are the same: what passes many checks and is nobody's number."""
    return len(set(number)) <= 1


def luhn(number: str) -> bool:
    """ISO/IEC 7812: every second digit from the right doubled, sum divisible by ten."""
    values = digits(number)
    doubled = [value * 2 - 9 if value * 2 > 9 else value * 2 for value in values[-2::-2]]
    return bool(values) and not is_repeated(values) and (sum(values[-1::-2]) + sum(doubled)) % _TEN == 0


def fr_nir(number: str) -> bool:
    """France, numéro de sécurité sociale: key 97 minus the rest of 13 digits by 97; 2A is 19, 2B is 18."""
    body = number[:13].replace("2A", "19").replace("2B", "18")
    return body.isdigit() and number[13:].isdigit() and 97 - int(body) % 97 == int(number[13:])


def br_cpf(number: str) -> bool:
    """Brazil, CPF: two check digits by modulus 11, over 9 and 10 digits."""
    return _two_descending(number, 9, range(10, 1, -1), range(11, 1, -1))


def br_cnpj(number: str) -> bool:
    """Brazil, CNPJ: two check digits by modulus 11, weights 5 to 2 and 9 to 2, then 6 to 2 and 9 to 2."""
    first = (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    return _two_descending(number, 12, first, (6, *first))


def _two_descending(number: str, length: int, first: Sequence[int], second: Sequence[int]) -> bool:
    values = digits(number)
    if len(values) != length + 2 or is_repeated(values):
        return False
    for offset, weights in ((0, first), (1, second)):
        rest = weighted(values[: length + offset], weights) % _TWO_CHECKS_MODULUS
        if values[length + offset] != (0 if rest < 2 else _TWO_CHECKS_MODULUS - rest):
            return False
    return True


def pt_nif(number: str) -> bool:
    """Portugal, NIF: nine digits, weights 9 to 2, modulus 11."""
    values = digits(number)
    rest = weighted(values[:8], range(9, 1, -1)) % 11
    return values[8] == (0 if rest < 2 else 11 - rest)


def nl_bsn(number: str) -> bool:
    """Netherlands, burgerservicenummer: weights 9 to 2 and minus one, sum divisible by eleven."""
    values = digits(number)
    return not is_repeated(values) and weighted(values, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def be_national(number: str) -> bool:
    """Belgium, rijksregisternummer: 97 minus the rest of nine digits by 97, a 2 before them from the year 2000 on."""
    body, check = int(number[:9]), int(number[9:])
    month, day = int(number[2:4]), int(number[4:6])
    plausible = month <= 12 and day <= 31
    return plausible and check in {97 - body % 97, 97 - (body + 2_000_000_000) % 97}


def cz_birth(number: str) -> bool:
    """Czechia and Slovakia, rodné číslo: a date (women's months + 50), and ten digits divisible by eleven."""
    year, month, day = int(number[:2]), int(number[2:4]), int(number[4:6])
    months = (month % 50, month % 50 - 20)
    dated = any(is_short_date(year, item, day) for item in months)
    if len(number) == 9:
        return dated
    return dated and (int(number) % 11 == 0 or (int(number[:9]) % 11 == _TEN and number[9] == "0"))


def ru_inn(number: str) -> bool:
    """Russia, INN: of twelve digits the last two are checks by modulus 11, then 10."""
    values = digits(number)
    weights = (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    first = weighted(values[:10], weights[1:]) % 11 % 10
    second = weighted(values[:11], weights) % 11 % 10
    return not is_repeated(values) and values[10:] == [first, second]


def ru_snils(number: str) -> bool:
    """Russia, SNILS: nine digits by weights 9 to 1, modulus 101, 100 is 00."""
    values = digits(number)
    return not is_repeated(values) and weighted(values[:9], range(9, 0, -1)) % 101 % 100 == int(number[9:])


def ua_rnokpp(number: str) -> bool:
    """Ukraine, RNOKPP: days since 1900 in front, weights -1 5 7 9 4 6 10 5 7, modulus 11, then 10."""
    values = digits(number)
    return not is_repeated(values) and weighted(values[:9], (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10 == values[9]


def cn_resident(number: str) -> bool:
    """China, resident identity: a date in digits 7 to 14, ISO 7064 MOD 11-2 over all."""
    if not is_date(int(number[6:10]), int(number[10:12]), int(number[12:14])):
        return False
    total = weighted(digits(number[:17]), [pow(2, 17 - index, 11) for index in range(17)])
    return _CHINESE_CHECK[total % 11] == number[17]


def tw_identity(number: str) -> bool:
    """Taiwan, national identity: a letter worth two digits, weights 1 9 8 ... 1, sum divisible by ten."""
    value = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
    return (value // 10 + value % 10 * 9 + weighted(digits(number[1:]), (8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def hk_identity(number: str) -> bool:
    """Hong Kong, identity card: letters from A = 10, a blank 36, weights 9 to 1, divisible by eleven; A is ten."""
    padded = number.rjust(9)
    values = [36 if item == " " else int(item, 36) for item in padded]
    return weighted(values, range(9, 0, -1)) % 11 == 0


def jp_my_number(number: str) -> bool:
    """Japan, individual number: weights 6 5 4 3 2 7 6 5 4 3 2, modulus 11; rests below two are zero."""
    values = digits(number)
    rest = weighted(values[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return not is_repeated(values) and values[11] == (0 if rest < 2 else 11 - rest)


def no_identity(number: str) -> bool:
    """Norway, fødselsnummer: a date (D-numbers: day + 40), two check digits by modulus 11."""
    values = digits(number)
    day, month, year = int(number[:2]) % 40, int(number[2:4]) % 40, int(number[4:6])
    first = -weighted(values[:9], (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -weighted([*values[:9], first], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return is_short_date(year, month, day) and values[9:] == [first, second]


def dk_cpr(number: str) -> bool:
    """Denmark, CPR: a date. Its check digit has not been kept to since 2007."""
    return is_short_date(int(number[4:6]), int(number[2:4]), int(number[:2]))


def ro_cnp(number: str) -> bool:
    """Romania, CNP: a date in digits 2 to 7, weights 2 7 9 1 4 6 3 5 8 2 7 9, modulus 11, ten is one."""
    values = digits(number)
    rest = weighted(values[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    dated = is_short_date(int(number[1:3]), int(number[3:5]), int(number[5:7]))
    return dated and values[12] == (1 if rest == _TEN else rest)


def gr_amka(number: str) -> bool:
    """Greece, AMKA: a date in front, and Luhn's digit."""
    return is_short_date(int(number[4:6]), int(number[2:4]), int(number[:2])) and luhn(number)


def gr_afm(number: str) -> bool:
    """Greece, AFM: eight digits by powers of two, modulus 11, then 10."""
    values = digits(number)
    return not is_repeated(values) and weighted(values[:8], (256, 128, 64, 32, 16, 8, 4, 2)) % 11 % 10 == values[8]


def hu_taj(number: str) -> bool:
    """Hungary, TAJ: weights 3 and 7 in turn, modulus ten."""
    values = digits(number)
    return not is_repeated(values) and weighted(values[:8], (3, 7) * 4) % 10 == values[8]


def hu_tax(number: str) -> bool:
    """Hungary, adóazonosító jel: an 8 in front, digits by their place, modulus 11."""
    values = digits(number)
    return weighted(values[:9], range(1, 10)) % 11 == values[9]


def ch_ahv(number: str) -> bool:
    """Switzerland, AHV: 756 in front, EAN-13's check digit."""
    values = digits(number)
    return -weighted(values[:12], (1, 3) * 6) % 10 == values[12]


def at_svnr(number: str) -> bool:
    """Austria, Sozialversicherungsnummer: the fourth digit checks, weights 3 7 9 0 5 8 4 2 1 6, and a date behind."""
    values = digits(number)
    rest = weighted(values, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11
    return rest == values[3] and is_short_date(int(number[8:]), int(number[6:8]), int(number[4:6]))


def il_identity(number: str) -> bool:
    """Israel, identity number: Luhn's rule over nine digits."""
    return luhn(number)


def bg_egn(number: str) -> bool:
    """Bulgaria, EGN: a date (months + 20 before 1900, + 40 from 2000), weights 2 4 8 5 10 9 7 3 6, modulus 11."""
    values = digits(number)
    dated = is_short_date(int(number[:2]), int(number[2:4]) % 20, int(number[4:6]))
    return dated and weighted(values[:9], (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == values[9]


def es_nuss(number: str) -> bool:
    """Spain, social security: ten digits by 97; a zero behind the province is left out."""
    province, body, check = number[:2], number[2:10], int(number[10:])
    kept = province + (body[1:] if body[0] == "0" else body)
    return int(kept) % 97 == check


def es_dni(number: str) -> bool:
    """Spain, DNI and NIE: the number by 23 names the letter; X, Y and Z are 0, 1 and 2."""
    body = number[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return body.isdigit() and _LETTERS_OF_23[int(body) % 23] == number[-1]


def mx_curp(number: str) -> bool:
    """Mexico, CURP: a date in the middle, 17 characters by weights 18 to 2, modulus ten; Ñ stands after N."""
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(alphabet.index(item) * (18 - index) for index, item in enumerate(number[:17]))
    dated = is_short_date(int(number[4:6]), int(number[6:8]), int(number[8:10]))
    return dated and str(-total % 10) == number[17]


def mx_rfc(number: str) -> bool:
    """Mexico, RFC: a date before the last three characters, which taxpayers' software gets wrong too often to check."""
    date = number[-9:-3]
    return is_short_date(int(date[:2]), int(date[2:4]), int(date[4:]))


def ar_cuit(number: str) -> bool:
    """Argentina, CUIT: weights 5 4 3 2 7 6 5 4 3 2, modulus 11."""
    values = digits(number)
    rest = -weighted(values[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return rest == values[10]


def cl_rut(number: str) -> bool:
    """Chile, RUT: weights 2 to 7 from the right, modulus 11; ten is K, eleven is zero."""
    values = digits(number[:-1])[::-1]
    rest = -weighted(values, (2, 3, 4, 5, 6, 7) * 2) % 11
    return "0123456789K"[rest] == number[-1]


def pl_nip(number: str) -> bool:
    """Poland, NIP: weights 6 5 7 2 3 4 5 6 7, modulus 11."""
    values = digits(number)
    return not is_repeated(values) and weighted(values[:9], (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == values[9]


def pl_identity_card(number: str) -> bool:
    """Poland, dowód osobisty: letters from A = 10, weights 7 3 1 9 7 3 1 7 3, sum divisible by ten."""
    values = [int(item, 36) for item in number]
    return weighted(values, (7, 3, 1, 9, 7, 3, 1, 7, 3)) % 10 == 0


def ir_national(number: str) -> bool:
    """Iran, national code: weights 10 to 2, modulus 11; rests below two check as they are."""
    values = digits(number)
    rest = weighted(values[:9], range(10, 1, -1)) % 11
    return not is_repeated(values) and values[9] == (rest if rest < 2 else 11 - rest)


def eg_national(number: str) -> bool:
    """Egypt, national number: the century's digit and a date in front."""
    return is_date((1700, 1800, 1900, 2000)[int(number[0])], int(number[3:5]), int(number[5:7]))


def id_nik(number: str) -> bool:
    """Indonesia, NIK: a date in digits 7 to 12, women's days + 40."""
    return is_short_date(int(number[10:12]), int(number[8:10]), int(number[6:8]) % 40)


def iso_7064_mod_11_10(values: Sequence[int]) -> int:
    """ISO 7064 MOD 11,10: the check digit of some digits."""
    rest = _TEN
    for value in values:
        rest = (rest + value) % _TEN or _TEN
        rest = rest * 2 % 11
    return (11 - rest) % _TEN


def hr_oib(number: str) -> bool:
    """Croatia, OIB: ten digits and one by ISO 7064 MOD 11,10."""
    values = digits(number)
    return not is_repeated(values) and iso_7064_mod_11_10(values[:10]) == values[10]


def de_tax(number: str) -> bool:
    """Germany, Steuer-Identifikationsnummer: ten digits, one of them twice or thrice, and one by ISO 7064 MOD 11,10."""
    values = digits(number)
    repeated = max(values[:10].count(value) for value in values[:10])
    return repeated in {2, 3} and iso_7064_mod_11_10(values[:10]) == values[10]


def de_social_security(number: str) -> bool:
    """Germany, Rentenversicherungsnummer: a letter worth two digits, weights 2 1 2 5 7 1 2 1 2 1 2 1 by digit sums."""
    day, month, year = int(number[2:4]), int(number[4:6]), int(number[6:8])
    values = digits(f"{number[:8]}{ord(number[8]) - 64:02d}{number[9:11]}")
    products = (value * weight for value, weight in zip(values, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return is_short_date(year, month, day) and sum(sum(divmod(item, 10)) for item in products) % 10 == int(number[11])


def jmbg(number: str) -> bool:
    """States of former Yugoslavia, JMBG and EMŠO: date, three digits of the year, weights 7 to 2 twice, modulus 11."""
    values = digits(number)
    year = int(number[4:7])
    rest = weighted(values[:12], (7, 6, 5, 4, 3, 2) * 2) % 11
    dated = is_date(year + (2000 if year < 900 else 1000), int(number[2:4]), int(number[:2]))
    return dated and values[12] == (0 if rest < 2 else 11 - rest)


def baltic_personal(number: str) -> bool:
    """Estonia and Lithuania, personal code: a date, weights 1 to 9 and 1, modulus 11; where that is ten, from 3 on."""
    values = digits(number)
    rest = weighted(values[:10], (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if rest == _TEN:
        rest = weighted(values[:10], (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return is_short_date(int(number[1:3]), int(number[3:5]), int(number[5:7])) and values[10] == rest


def is_kennitala(number: str) -> bool:
    """Iceland, kennitala: a date, weights 3 2 7 6 5 4 3 2, modulus 11; the century's digit is the last."""
    values = digits(number)
    dated = is_short_date(int(number[4:6]), int(number[2:4]), int(number[:2]))
    return dated and -weighted(values[:8], (3, 2, 7, 6, 5, 4, 3, 2)) % 11 == values[8]


def pl_regon(number: str) -> bool:
    """Poland, REGON: weights 8 9 2 3 4 5 6 7, modulus 11, then 10; of 14 by 2 4 8 5 0 9 7 3 6 1 2 4 8."""
    values = digits(number)
    right = weighted(values[:8], (8, 9, 2, 3, 4, 5, 6, 7)) % 11 % 10 == values[8] and not is_repeated(values)
    if len(values) == 9:
        return right
    return right and weighted(values[:13], (2, 4, 8, 5, 0, 9, 7, 3, 6, 1, 2, 4, 8)) % 11 % 10 == values[13]


def hu_personal(number: str) -> bool:
    """Hungary, személyi szám: a date in digits 2 to 7, weights 1 to 10 before 1997, 10 to 1 from then on."""
    values = digits(number)
    dated = is_short_date(int(number[1:3]), int(number[3:5]), int(number[5:7]))
    is_new = number[0] in "34" or int(number[1:3]) >= 97
    weights = range(10, 0, -1) if is_new else range(1, 11)
    return dated and values[10] == weighted(values[:10], weights) % 11


def br_pis(number: str) -> bool:
    """Brazil, PIS: weights 3 2 9 8 7 6 5 4 3 2, modulus 11; rests below two are zero."""
    values = digits(number)
    rest = weighted(values[:10], (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return not is_repeated(values) and values[10] == (0 if rest < 2 else 11 - rest)


def nz_ird(number: str) -> bool:
    """New Zealand, IRD: weights 3 2 7 6 5 4 3 2, modulus 11; where ten is left, 7 4 3 2 5 2 7 6."""
    values = digits(number.zfill(9))
    rest = -weighted(values[:8], (3, 2, 7, 6, 5, 4, 3, 2)) % 11
    if rest == _TEN:
        rest = -weighted(values[:8], (7, 4, 3, 2, 5, 2, 7, 6)) % 11
    return not is_repeated(values) and rest == values[8]


def th_identity(number: str) -> bool:
    """Thailand, identity number: weights 13 to 2, modulus 11, then 10."""
    values = digits(number)
    return (11 - weighted(values[:12], range(13, 1, -1)) % 11) % 10 == values[12]


def any_number(number: str) -> bool:
    """Accept: the number has no check digits, and only its form and the words beside it tell it."""
    return bool(number)
