"""Published example numbers, by the function that checks them; each one's neighbours are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from streams.adapters.pii import checksums as check

EXAMPLES: Final[tuple[tuple[Callable[[str], bool], str], ...]] = (
    (check.ar_cuit, "20055361682"),
    (check.at_svnr, "1237010180"),
    (check.be_national, "85073003328"),
    (check.be_national, "17073003384"),
    (check.bg_egn, "7523169263"),
    (check.bg_egn, "8032056031"),
    (check.br_cnpj, "16727230000197"),
    (check.br_cpf, "39053344705"),
    (check.ch_ahv, "7569217076985"),
    (check.cl_rut, "125319092"),
    (check.cn_resident, "11010519491231002X"),
    (check.cn_resident, "440308199901101512"),
    (check.cz_birth, "7103192745"),
    (check.es_dni, "12345678Z"),
    (check.es_dni, "X1234567L"),
    (check.es_nuss, "281234567840"),
    (check.fr_nir, "295109912611193"),
    (check.gr_afm, "094259216"),
    (check.gr_amka, "01013099997"),
    (check.hk_identity, "A1234563"),
    (check.hk_identity, "AB9876543"),
    (check.hu_taj, "123456788"),
    (check.hu_tax, "8071592153"),
    (check.il_identity, "039337423"),
    (check.ir_national, "0499370899"),
    (check.jp_my_number, "123456789018"),
    (check.luhn, "79927398713"),
    (check.mx_curp, "BOXW310820HNERXN09"),
    (check.nl_bsn, "111222333"),
    (check.no_identity, "15108695088"),
    (check.pl_identity_card, "ABS123456"),
    (check.pl_nip, "8567346215"),
    (check.pt_nif, "501964843"),
    (check.ro_cnp, "1630615123457"),
    (check.ru_inn, "500100732259"),
    (check.ru_snils, "11223344595"),
    (check.tw_identity, "A123456789"),
    (check.ua_rnokpp, "1759013776"),
)
