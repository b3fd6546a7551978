# fsGroup gives the volume's group rights, and PostgreSQL refuses a folder with group rights.
chmod 700 "$PGDATA"

# At every start: the password may have been rotated.
password=$(printf '%s' "$DATABASE_PASSWORD" | sed "s/'/''/g")
statement "$PGDATA" "ALTER ROLE \"$DATABASE_USER\" PASSWORD '$password'"
unset password DATABASE_PASSWORD

exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
