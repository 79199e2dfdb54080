-- interval.lua -- what values an operation can give, from what its operands can.
--
-- Every rule takes operands with fields lo, hi and nan (whether NaN is possible; of floats only)
-- and returns lo, hi, nan. A rule may be too wide, never too narrow. Integers wrap: where the ends
-- might, the answer is every integer. Rules for floats lean on this: each of + - * / sqrt floor
-- is rounded correctly, hence monotone where the exact one is. libm's functions are not.

local interval = {}

local MIN, MAX, INF = math.mininteger, math.maxinteger, math.huge

local min, max = math.min, math.max

-- Integers --------------------------------------------------------------------------------------

function interval.iadd(a, b)
  local lo, hi = a.lo + b.lo, a.hi + b.hi
  if (a.lo ~ lo) & (b.lo ~ lo) < 0 or (a.hi ~ hi) & (b.hi ~ hi) < 0 then return MIN, MAX end
  return lo, hi
end

function interval.isub(a, b)
  local lo, hi = a.lo - b.hi, a.hi - b.lo
  if (a.lo ~ b.hi) & (a.lo ~ lo) < 0 or (a.hi ~ b.lo) & (a.hi ~ hi) < 0 then return MIN, MAX end
  return lo, hi
end

-- Least and greatest of f at the four corners.
local function corners(f, a, b)
  local p, q, r, s = f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)
  return min(p, q, r, s), max(p, q, r, s)
end

local function magnitude(a) return max(math.abs(a.lo + 0.0), math.abs(a.hi + 0.0)) end

function interval.imul(a, b)
  if magnitude(a) * magnitude(b) >= 2.0 ^ 62 then return MIN, MAX end
  return corners(function(x, y) return x * y end, a, b)
end

function interval.ineg(a)
  if a.lo == MIN then return MIN, MAX end
  return -a.hi, -a.lo
end

function interval.iabs(a)
  if a.lo == MIN then return MIN, MAX end
  if a.lo >= 0 then return a.lo, a.hi end
  if a.hi <= 0 then return -a.hi, -a.lo end
  return 0, max(-a.lo, a.hi)
end

function interval.idiv(a, b)
  if a.lo == MIN then return MIN, MAX end
  if b.lo > 0 or b.hi < 0 then return corners(function(x, y) return x // y end, a, b) end
  local far = max(math.abs(a.lo), math.abs(a.hi)) -- of x // 0 the program makes 0
  return -far, far
end

function interval.imod(a, b)
  if b.lo > 0 and a.lo >= 0 then return 0, min(a.hi, b.hi - 1) end
  return min(b.lo, -1) + 1, max(b.hi, 1) - 1
end

function interval.icmod(a)
  if a.lo == MIN then return MIN, MAX end
  local far = max(math.abs(a.lo), math.abs(a.hi))
  return a.lo >= 0 and 0 or -far, a.hi <= 0 and 0 or far
end

function interval.imin(a, b) return min(a.lo, b.lo), min(a.hi, b.hi) end

function interval.imax(a, b) return max(a.lo, b.lo), max(a.hi, b.hi) end

function interval.iand(a, b)
  if a.lo >= 0 and b.lo >= 0 then return 0, min(a.hi, b.hi) end
  if a.lo >= 0 then return 0, a.hi end
  if b.lo >= 0 then return 0, b.hi end
  return MIN, MAX
end

function interval.ior(a, b)
  if a.lo < 0 or b.lo < 0 then return MIN, MAX end
  local all = max(a.hi, b.hi)
  for shift = 0, 5 do all = all | all >> (1 << shift) end
  return 0, all
end

interval.ixor = interval.ior

function interval.inot(a) return ~a.hi, ~a.lo end

function interval.ishl(a, b)
  if b.lo == b.hi and b.lo >= 0 and b.lo < 62 then
    return interval.imul(a, {lo = 1 << b.lo, hi = 1 << b.lo})
  end
  return MIN, MAX
end

function interval.ishr(a, b)
  if b.lo < 0 then return MIN, MAX end
  if a.lo >= 0 then return a.lo >> b.hi, a.hi >> b.lo end
  if b.lo > 0 then return 0, -1 >> b.lo end
  return MIN, MAX
end

-- An integral float within range as an integer; 0 stands for the others.
function interval.ifrom(a)
  local lo, hi = max(a.lo, -2.0 ^ 63), min(a.hi, 2.0 ^ 63)
  lo = lo < 2.0 ^ 63 and math.ceil(lo) or MAX
  hi = hi < 2.0 ^ 63 and math.floor(hi) or MAX
  if a.integral and not a.nan and a.lo >= -2.0 ^ 63 and a.hi < 2.0 ^ 63 then return lo, hi end
  return min(lo, 0), max(hi, 0)
end

-- Floats ----------------------------------------------------------------------------------------

local function has_infinity(a) return a.lo == -INF or a.hi == INF end

local function has_zero(a) return a.lo <= 0 and a.hi >= 0 end

function interval.fadd(a, b)
  local nan = a.nan or b.nan or a.lo == -INF and b.hi == INF or a.hi == INF and b.lo == -INF
  if nan then return -INF, INF, true end
  return a.lo + b.lo, a.hi + b.hi, false
end

function interval.fsub(a, b)
  local nan = a.nan or b.nan or a.lo == -INF and b.lo == -INF or a.hi == INF and b.hi == INF
  if nan then return -INF, INF, true end
  return a.lo - b.hi, a.hi - b.lo, false
end

function interval.fmul(a, b)
  local nan = a.nan or b.nan or has_infinity(a) and has_zero(b) or has_infinity(b) and has_zero(a)
  if nan then return -INF, INF, true end
  local lo, hi = corners(function(x, y) return x * y end, a, b)
  return lo, hi, false
end

function interval.fdiv(a, b)
  local nan = a.nan or b.nan or has_zero(a) and has_zero(b) or has_infinity(a) and has_infinity(b)
  if nan or has_zero(b) then return -INF, INF, nan end
  local lo, hi = corners(function(x, y) return x / y end, a, b)
  return lo, hi, false
end

function interval.fneg(a) return -a.hi, -a.lo, a.nan end

local function anything() return -INF, INF, true end

interval.ffloordiv, interval.fmod, interval.fcmod = anything, anything, anything

function interval.fpow(a, b)
  if a.nan or b.nan or a.lo < 0 then return -INF, INF, true end
  return 0.0, INF, false
end

function interval.fabs(a)
  if a.lo >= 0 then return a.lo, a.hi, a.nan end
  if a.hi <= 0 then return -a.hi, -a.lo, a.nan end
  return 0.0, max(-a.lo, a.hi), a.nan
end

-- The floor of a float as a float, and its ceiling.
function interval.floor(x) return x // 1.0 end

function interval.ceil(x) return -(-x // 1.0) end

function interval.ffloor(a) return interval.floor(a.lo), interval.floor(a.hi), a.nan end

function interval.fceil(a) return interval.ceil(a.lo), interval.ceil(a.hi), a.nan end

function interval.fsqrt(a)
  if a.hi < 0 then return -INF, INF, true end
  return math.sqrt(max(a.lo, 0.0)), math.sqrt(a.hi), a.nan or a.lo < 0
end

function interval.fexp(a) return 0.0, INF, a.nan end

local function logarithm(a) return -INF, INF, a.nan or a.lo < 0 end

interval.flog, interval.flog2, interval.flog10 = logarithm, logarithm, logarithm

-- libm's sine and cosine stay within [-1, 1]; a little more is allowed all the same.
local function wave(a) return -1.0625, 1.0625, a.nan or has_infinity(a) end

interval.fsin, interval.fcos = wave, wave

function interval.ftan(a) return -INF, INF, a.nan or has_infinity(a) end

function interval.ftanh(a) return -1.0625, 1.0625, a.nan end

function interval.ffrom(a) return a.lo + 0.0, a.hi + 0.0, false end

-- Choices ---------------------------------------------------------------------------------------

function interval.iselect(_, a, b) return min(a.lo, b.lo), max(a.hi, b.hi) end

function interval.fselect(_, a, b) return min(a.lo, b.lo), max(a.hi, b.hi), a.nan or b.nan end

-- Comparisons: true, false, or nil where both are possible. Lua itself compares integers with
-- floats exactly; NaN compares false.

local function less(a, b)
  if a.lo >= b.hi then return false end
  if a.hi < b.lo and not a.nan and not b.nan then return true end
end

local function less_or_equal(a, b)
  if a.lo > b.hi then return false end
  if a.hi <= b.lo and not a.nan and not b.nan then return true end
end

local function equal(a, b)
  if a.hi < b.lo or b.hi < a.lo then return false end
  if a.lo == a.hi and b.lo == b.hi and a.lo == b.lo and not a.nan and not b.nan then return true end
end

interval.ilt, interval.flt, interval.iflt, interval.filt = less, less, less, less
interval.ile, interval.fle, interval.ifle, interval.file =
  less_or_equal, less_or_equal, less_or_equal, less_or_equal
interval.ieq, interval.feq, interval.ifeq = equal, equal, equal

function interval.fits(a)
  if a.hi < -2.0 ^ 63 or a.lo >= 2.0 ^ 63 then return false end
  if a.integral and not a.nan and a.lo >= -2.0 ^ 63 and a.hi < 2.0 ^ 63 then return true end
end

return interval
