/**
 * Serves the repositories of a folder read-only on a loopback port. git runs as user UID if given. Usage: serve.ts PORT
 * FOLDER [UID]
 */
import { createServer } from "node:http";
import { httpBackend } from "./http-backend.ts";

const [port = "", root = "", uid] = process.argv.slice(2);
const user = uid === undefined ? undefined : { uid: Number(uid), gid: Number(uid) };
const log = (line: string) => console.error(new Date().toISOString(), line);

createServer((request, reply) => void httpBackend(request, reply, { root, user, log })).listen(
  Number(port),
  "127.0.0.1",
);
