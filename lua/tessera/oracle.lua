--- The oracle: road 3, attention in MPFR, the judge of the other two.

local core = require "tessera.core"

local methods = core.problem.methods

--- Attention once more, in numbers of `bits` bits; each result is rounded to the problem's dtype once.
--
-- It is slow (some 50 ns for a multiplication and an addition): `rows` asks for some query rows alone, in the
-- order of the list. Score functions that are lifted are evaluated in as many bits (the sine, cosine and tangent
-- of what is beyond 2^65536 are NaN); for those that are called a third result says that the oracle is good to
-- double only.
--     local O, lse = P:oracle{bits = 256, rows = {1, 6, 12}}
--     print(ts.diff(P:attention(), (P:oracle())))
-- Errors: bits below 64 or above 65536, rows that the problem lacks, and what `softmax` raises.
---@param options? {bits: integer, rows: integer[], empty: "error"|"zero"}
---@return matrix O n_q (or #rows) × heads·d_v
---@return matrix lse n_q (or #rows) × heads
---@return string? note what it is good to, where that is less than its bits
methods.oracle = rawget(methods, "oracle")

return methods.oracle
