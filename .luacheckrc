std = "lua54"
max_line_length = 140
include_files = {"lua/**/*.lua", "spec/**/*.lua", "examples/*.lua", "scripts/*.lua", "tessera-*.rockspec"}
exclude_files = {"build"}

files["spec"].std = "+busted"
files["tessera-*.rockspec"].std = "rockspec"
files["spec/host"].read_globals = {"host"}
files["spec/fuzz"].read_globals = {"host"}
