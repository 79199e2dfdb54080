rockspec_format = "3.0"
package = "tessera"
version = "0.1.0-1"
source = {
  url = "git+file://.", -- `luarocks make` builds the checkout that it is called in
}
description = {
  summary = "Attention as an algebra of summaries: cut keys into blocks, merge them in any order, and see that nothing changes.",
  detailed = [[
A sandbox for attention research on the CPU. A problem is stated by Q, K, V, a scale and a mask; its keys are cut into
blocks in any way and any order, the blocks' summaries merged with any bracketing, and the distance to full softmax is
measured in ulps and against a derived bound. A C core under Lua 5.4; building it needs SLEEF and MPFR.]],
  license = "MIT",
}
supported_platforms = {"unix"}
dependencies = {
  "lua >= 5.4, < 5.5",
}
external_dependencies = { -- libraries only: a look for headers fails where they lie in a folder of the architecture
  SLEEF = {library = "sleef"},
  MPFR = {library = "mpfr"},
}
build = {
  type = "make",
  build_target = "all",
  build_variables = {
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    PREFIX = "$(PREFIX)",
    BINDIR = "$(BINDIR)",
    DOCDIR = "$(PREFIX)/doc",
    INSTALL_LMOD = "$(LUADIR)",
    INSTALL_CMOD = "$(LIBDIR)",
    RUN_LMOD = "$$root/share/lua/5.4", -- what the command calls the folder that its own lies in
    RUN_CMOD = "$$root/lib/lua/5.4",
  },
}
test = {
  type = "command",
  command = "make test",
}
