# Runs PostgreSQL with one database and the role that owns it, on an empty volume as on one that was used before.
# Needs no more than PostgreSQL's own programs and a shell, so that it is the same with every image.
# Given: PGDATA, DATABASE_USER, DATABASE_NAME, DATABASE_PASSWORD.
set -eu
umask 077

# One statement, before anybody can connect; ends the script when it fails. Never logged: it may hold the password.
statement() {
  printf '%s;\n\n' "$2" |
    postgres --single -j -D "$1" -c exit_on_error=on -c log_min_error_statement=panic postgres >/dev/null
}

# Beside its place, because a pod may end in the middle of it: what is in its place is complete.
if [ ! -e "$PGDATA" ]; then
  rm -rf "$PGDATA.new"
  initdb -D "$PGDATA.new" --username=postgres --encoding=UTF8 --auth-local=peer --auth-host=scram-sha-256 --no-instructions
  echo 'host all all all scram-sha-256' >> "$PGDATA.new/pg_hba.conf"
  statement "$PGDATA.new" "CREATE ROLE \"$DATABASE_USER\" LOGIN"
  statement "$PGDATA.new" "CREATE DATABASE \"$DATABASE_NAME\" OWNER \"$DATABASE_USER\""
  mv "$PGDATA.new" "$PGDATA"
fi

# The volume's group is given rights to all that is on it, and PostgreSQL refuses a folder that others may enter.
chmod 700 "$PGDATA"

# At every start: the password may have been rotated.
password=$(printf '%s' "$DATABASE_PASSWORD" | sed "s/'/''/g")
statement "$PGDATA" "ALTER ROLE \"$DATABASE_USER\" PASSWORD '$password'"
unset password DATABASE_PASSWORD

exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
