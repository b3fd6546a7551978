# Runs PostgreSQL with one database and the role that owns it, on an empty or a used volume.
# It needs only PostgreSQL's own programs and a shell, so it works with every image.
# Variables: PGDATA, DATABASE_USER, DATABASE_NAME, DATABASE_PASSWORD.
set -eu
umask 077

# Runs one statement before clients can connect; an error ends the script. It is never logged, because of the password.
statement() {
  printf '%s;\n\n' "$2" |
    postgres --single -j -D "$1" -c exit_on_error=on -c log_min_error_statement=panic postgres >/dev/null
}

# Created beside its place and moved there when it is complete, because the pod may end in between.
if [ ! -e "$PGDATA" ]; then
  rm -rf "$PGDATA.new"
  initdb -D "$PGDATA.new" --username=postgres --encoding=UTF8 --auth-local=peer --auth-host=scram-sha-256 --no-instructions
  echo 'host all all all scram-sha-256' >> "$PGDATA.new/pg_hba.conf"
  statement "$PGDATA.new" "CREATE ROLE \"$DATABASE_USER\" LOGIN"
  statement "$PGDATA.new" "CREATE DATABASE \"$DATABASE_NAME\" OWNER \"$DATABASE_USER\""
  mv "$PGDATA.new" "$PGDATA"
fi

