/**
 * Serves the repositories of a folder on a port of loopback, for reading. git itself runs as another user.
 * Usage: serve.ts PORT FOLDER UID
 */
import { createServer } from "node:http";
import { httpBackend } from "./http-backend.ts";

const [port = "", root = "", uid = ""] = process.argv.slice(2);
const user = { uid: Number(uid), gid: Number(uid) };

createServer((request, reply) => httpBackend(request, reply, { root, user })).listen(Number(port), "127.0.0.1");
