--- Numbers with a wide exponent: e^100000 is one, so Σ e^s v needs no maximum taken away.
--
-- A wide number is a fraction of 1/2 <= |f| < 1 times 2^(e + far). The fraction has a double's 53 bits, and e counts the
-- powers of two exactly; `far` is 0 but where an exponential went beyond 2^52 powers of two, in steps of its own size: so
-- even e^1e300 has neighbours e^1e300 · 2 and e^1e300 / 3.
--     local wide = ts.laws.wide
--     local a, b = wide.exp(1e5), wide.exp(1e5 - 1)
--     print((a / (a + b)):number())   --> 0.73105857863

local check = require "tessera.check"
local exact = require "tessera.exact"
local number = require "tessera.number"

local wide = {}

local methods = {__name = "tessera.wide"}
methods.__index = methods

-- x as fraction and exponent, read from its bits.
local function split(x)
  if x == 0 or x - x ~= 0 then return x, 0.0 end
  local shift = 0.0
  if math.abs(x) < 2.0 ^ -1022 then x, shift = x * 2.0 ^ 54, -54.0 end
  local bits = string.unpack("<i8", string.pack("<d", x))
  local exponent = bits >> 52 & 0x7ff
  local fraction = string.unpack("<d", string.pack("<i8", bits & ~(0x7ff << 52) | 1022 << 52))
  return fraction, exponent - 1022 + shift
end

-- x · 2^(e + far)
local function new(x, e, far)
  local fraction, exponent = split(x)
  local zero = fraction == 0
  return setmetatable({
    fraction = fraction, exponent = zero and 0.0 or exponent + e, far = zero and 0.0 or far,
  }, methods)
end

local function of(x)
  if getmetatable(x) == methods then return x end
  check.that(type(x) == "number", "number or wide number expected, got %s", check.type_of(x))
  return new(x, 0.0, 0.0)
end

-- f · 2^e as a double, rounded once unless it is below the normal range.
local function scaled(f, e)
  if e > 1024 then return f * math.huge end
  if e < -1100 then return f * 0.0 end
  local half = e // 2
  return f * 2.0 ^ half * 2.0 ^ (e - half)
end

--- e^x: its relative error is about |x| · 2^-53.
---     ts.laws.wide.exp(1e5):log() --> 100000.0
---@param x number -inf gives 0
---@return table
function wide.exp(x)
  check.arg(type(x) == "number", 1, "exp", "number expected, got %s", check.type_of(x))
  if x == -math.huge then return of(0.0) end
  local e = math.floor(x / math.log(2) + 0.5) + 0.0
  if math.abs(e) > 2.0 ^ 52 then return new(1.0, 0.0, e) end -- x's own neighbours are more than 1 away
  -- ln 2 in two parts, so that the first product rounds nothing while e is below 2^21.
  local rest = x - e * 0x1.62e42fee00000p-1 - e * 0x1.a39ef35793c76p-33
  return new(math.exp(rest), e, 0.0)
end

--- The double nearest to it: inf or 0 where it is out of range.
---     local wide = ts.laws.wide
---     (wide.exp(1000) / wide.exp(1000)):number() --> 1.0
---@return number
function methods:number() return scaled(self.fraction, self.exponent + self.far) end

--- Its natural logarithm.
---     (ts.laws.wide.exp(1e6) * ts.laws.wide.exp(1e6)):log() --> 2000000.0
---@return number
function methods:log() return math.log(self.fraction) + (self.exponent + self.far) * math.log(2) end

-- log2 of a's size over b's, but for their fractions.
local function apart(a, b) return a.far - b.far + (a.exponent - b.exponent) end

function methods.__add(a, b)
  a, b = of(a), of(b)
  if a.fraction == 0 then return b end
  if b.fraction == 0 then return a end
  if apart(a, b) < 0 then a, b = b, a end
  return new(a.fraction + scaled(b.fraction, -apart(a, b)), a.exponent, a.far)
end

function methods.__mul(a, b)
  a, b = of(a), of(b)
  return new(a.fraction * b.fraction, a.exponent + b.exponent, a.far + b.far)
end

function methods.__div(a, b)
  a, b = of(a), of(b)
  return new(a.fraction / b.fraction, a.exponent - b.exponent, a.far - b.far)
end

function methods.__unm(a) return new(-a.fraction, a.exponent, a.far) end
function methods.__sub(a, b) return of(a) + -of(b) end
function methods.__eq(a, b) return a.fraction == b.fraction and a.exponent == b.exponent and a.far == b.far end

--- `0.75 * 2^100`: exact.
function methods:__tostring()
  return number.shortest(self.fraction) .. " * 2^" .. number.format("%.0f", self.exponent + self.far)
end

exact.all(methods, 1)
exact.all(wide, 0)

--- A double, or a wide number, as a wide number: `wide(0.5)`.
return setmetatable(wide, {__call = exact.of(function(_, x) return of(x) end, "wide", 1)})
