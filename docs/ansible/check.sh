# Prints what both must have made of a machine. Neither of the two is queried. ADDRESS is that of the machine.
export LC_ALL=C
getent group webmasters
getent passwd deploy
getent passwd app | cut -d: -f1,6,7
{ id -Gn deploy; id -Gn app; } | tr ' ' '\n' | sort | uniq -c
sed 's/ *$//' /home/deploy/.ssh/authorized_keys
find /home/deploy /srv/site /etc/sudoers.d/deploy /etc/app.ini /etc/app.secret /etc/cron.d /etc/motd /etc/systemd/system/app.service.d \
	/etc/nginx/sites-available /etc/nginx/sites-enabled -printf '%p %y %m %u %g %l\n' | sort
find /opt/app/ -printf '%P %y %m %u %g %l\n' | sort
find /srv/site /opt/app/ /etc/sudoers.d /etc/motd -type f -exec sha256sum {} + | sort -k 2
grep PermitRootLogin /etc/ssh/sshd_config
sed "s/$ADDRESS/ADDRESS/" /etc/nginx/sites-available/site
grep -n server_tokens /etc/nginx/nginx.conf
awk '/^\[/ { section = $0; next } NF { print section, $0 }' /etc/app.ini | sort
stat -c %s /etc/app.secret
grep -v '^#' /etc/cron.d/report
sed -n '/BEGIN/,/END/p' /etc/hosts
tail -n 2 /etc/shells
dpkg -l | awk '{ print $1, $2, $3, $4 }'
for unit in nginx app clean.timer clean.service cron srv-cache.mount; do
	systemctl show -p Id,ActiveState,LoadState,User,LimitNOFILE,TimersCalendar,Persistent "$unit" | sed 's/ next_elapse=[^;}]*//'
done
systemctl show -p ExecStart clean | sed 's/ ; ignore_errors.*//'
for unit in nginx app clean.timer cron; do systemctl is-enabled "$unit"; done
hostname
cat /etc/hostname
readlink -f /etc/localtime
sysctl -n kernel.domainname
findmnt -no FSTYPE,OPTIONS /srv/cache
exec 3<>"/dev/tcp/$ADDRESS/8080" && printf 'GET /about.html HTTP/1.0\r\n\r\n' >&3 && grep h1 <&3
