/* private.c -- a host that opens Lua's library at run time, for all to see or for itself alone.
 *
 *   private LIBRARY local|global CODE
 *
 * Prints what CODE raises, and exits with 1 then. With `local`, modules that CODE requires find
 * none of Lua's symbols.
 */
#include <dlfcn.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function of that name in the library, written to the pointer at `function`. */
static void find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "private: no %s\n", name);
        exit(2);
    }
    memcpy(function, &symbol, sizeof symbol); /* C has no conversion from one to the other */
}

int main(int argc, char **argv) {
    void *library = NULL;
    if (argc == 4)
        library = dlopen(argv[1], RTLD_NOW | (argv[2][0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == NULL) {
        fprintf(stderr, "usage: private LIBRARY local|global CODE\n");
        return 2;
    }
    lua_State *(*new_state)(void);
    void (*open_libraries)(lua_State *), (*close_state)(lua_State *);
    int (*load)(lua_State *, const char *);
    int (*call)(lua_State *, int, int, int, lua_KContext, lua_KFunction);
    const char *(*text)(lua_State *, int, size_t *);
    find(library, "luaL_newstate", &new_state);
    find(library, "luaL_openlibs", &open_libraries);
    find(library, "lua_close", &close_state);
    find(library, "luaL_loadstring", &load);
    find(library, "lua_pcallk", &call);
    find(library, "lua_tolstring", &text);

    lua_State *L = new_state();
    if (L == NULL) return 2;
    open_libraries(L);
    int failed = load(L, argv[3]) || call(L, 0, 0, 0, 0, NULL);
    if (failed) puts(text(L, -1, NULL));
    close_state(L);
    return failed;
}
