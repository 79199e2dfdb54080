/* file.c -- what Lua's io lacks: opening regular files alone, and a new file that takes the old
 * one's place when it is whole. */
#define _XOPEN_SOURCE 700

#include "binding.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int close_stream(lua_State *L) {
    luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

/* Pushes a stream that is closed, until there is something to close. */
static luaL_Stream *push_stream(lua_State *L) {
    luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
    stream->closef = NULL;
    luaL_setmetatable(L, LUA_FILEHANDLE);
    return stream;
}

/* Gives the stream the open `file`; false, with errno and the file closed, on failure. */
static bool open_stream(luaL_Stream *stream, int file, const char *mode) {
    stream->f = fdopen(file, mode);
    if (stream->f) {
        stream->closef = close_stream;
        return true;
    }
    int reason = errno;
    close(file);
    errno = reason;
    return false;
}

/* Whether the path at arg is one that the system takes whole; else pushes nil and why not. */
static bool is_path(lua_State *L, int arg) {
    size_t length;
    const char *path = luaL_checklstring(L, arg, &length);
    if (strlen(path) == length) return true;
    luaL_pushfail(L);
    lua_pushliteral(L, "a name cannot hold a zero byte");
    return false;
}

/* nil and why not, for what is no regular file. */
static int push_irregular(lua_State *L, const struct stat *kind) {
    luaL_pushfail(L);
    lua_pushstring(L, S_ISDIR(kind->st_mode) ? "Is a directory" : "not a regular file");
    return 2;
}

/* core.open_file(path) -> a regular file, open for reading; or nil and why not. What is none (a
 * pipe, a device, a directory) is refused without waiting for its other end. */
int ts_lua_open_file(lua_State *L) {
    if (!is_path(L, 1)) return 2;
    const char *path = lua_tostring(L, 1);
    luaL_Stream *stream = push_stream(L);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat kind;
    if (file < 0) return luaL_fileresult(L, 0, NULL);
    if (fstat(file, &kind) != 0 || !S_ISREG(kind.st_mode)) {
        close(file);
        return push_irregular(L, &kind);
    }
    if (!open_stream(stream, file, "rb")) return luaL_fileresult(L, 0, NULL);
    return 1;
}

/* Puts what the link on top of the stack says, seen from where the link lies, in its place; false
 * where there is no link. */
static bool follow_link(lua_State *L) {
    const char *link = lua_tostring(L, -1), *slash = strrchr(link, '/');
    luaL_Buffer buffer;
    char *says = luaL_buffinitsize(L, &buffer, PATH_MAX);
    ssize_t length = readlink(link, says, PATH_MAX);
    luaL_pushresultsize(&buffer, length > 0 ? (size_t)length : 0);
    if (length <= 0) {
        lua_pop(L, 1);
        return false;
    }
    if (slash && lua_tostring(L, -1)[0] != '/') {
        lua_pushlstring(L, link, (size_t)(slash + 1 - link));
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    lua_replace(L, -2);
    return true;
}

/* Pushes the path that `path` leads to, links followed, also to where nothing is yet; NULL, with
 * errno, where they have no end. */
static const char *push_target(lua_State *L, const char *path) {
    enum { LINKS = 40 }; /* as many as Linux follows */
    lua_pushstring(L, path);
    for (int n = 0; follow_link(L); n++)
        if (n == LINKS) {
            errno = ELOOP;
            return NULL;
        }
    return lua_tostring(L, -1);
}

/* The length of the target without as much of its name's end as ".100.part" is long; or all of it,
 * where the name has no more than that. */
static size_t shortened(const char *target) {
    enum { ENDING = sizeof ".100.part" - 1 };
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    size_t length = strlen(name);
    if (length <= ENDING) return strlen(target);
    length -= ENDING;
    while (length > 0 && ts_lua_goes_on(name[length])) length--;
    return (size_t)(name - target) + length;
}

/* A new file of the first free name `target`.N.part; where that is longer than names may be, with
 * the target shortened. Pushes the name. -1, with errno, on failure. */
static int open_beside(lua_State *L, const char *target) {
    enum { TRIES = 100 };
    size_t length = strlen(target);
    int file = -1;
    for (int n = 1; n <= TRIES && file < 0; n++) {
        if (n > 1) lua_pop(L, 2);
        const char *start = lua_pushlstring(L, target, length);
        const char *name = lua_pushfstring(L, "%s.%d.part", start, n);
        file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno == EEXIST) continue;
        if (errno != ENAMETOOLONG || length != strlen(target)) break;
        length = shortened(target);
    }
    lua_remove(L, -2);
    return file;
}

/* core.create_beside(path) -> file, its name, the name to give it when it is complete; or nil and
 * why not. The file is new, open for writing, in the same directory as what `path` leads to, and
 * has the permissions of the file that it is to replace, which must be a regular one: a device or a
 * pipe would be gone. */
int ts_lua_create_beside(lua_State *L) {
    if (!is_path(L, 1)) return 2;
    const char *path = lua_tostring(L, 1);
    lua_settop(L, 1);
    luaL_Stream *stream = push_stream(L);
    struct stat old;
    bool replaces = stat(path, &old) == 0;
    if (replaces && !S_ISREG(old.st_mode)) return push_irregular(L, &old);
    const char *target = push_target(L, path);
    int file = target ? open_beside(L, target) : -1;
    if (file < 0) return luaL_fileresult(L, 0, NULL);
    if (replaces) (void)fchmod(file, old.st_mode & 07777); /* as far as allowed */
    if (!open_stream(stream, file, "wb")) {
        int reason = errno;
        unlink(lua_tostring(L, -1));
        errno = reason;
        return luaL_fileresult(L, 0, NULL);
    }
    lua_insert(L, -2); /* file, name, target */
    return 3;
}

/* core.sync(file) -> true, or nil and why not: all that was written is on the disk. */
int ts_lua_sync(lua_State *L) {
    luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    if (!stream->closef) return luaL_error(L, "attempt to use a closed file");
    return luaL_fileresult(L, fflush(stream->f) == 0 && fsync(fileno(stream->f)) == 0, NULL);
}
