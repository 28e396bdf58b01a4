# Prints what both must have made of a machine; neither of the two is asked.
address=$(getent hosts "$(hostname)" | cut -d" " -f1)
{ id -Gn ann; id -Gn bob; } | tr ' ' '\n' | sort | uniq -c
getent passwd ann bob | cut -d: -f1,6,7
cut -d' ' -f1,2 /home/ann/.ssh/authorized_keys /home/bob/.ssh/authorized_keys
stat -c '%n %a %U %G' /home/ann/.ssh /home/bob/.ssh
find /srv/site -printf '%p %m %u %g %y %l\n' | sort
sha256sum /srv/site/pages/* | cut -c1-16
grep -c /usr/local/bin/shell /etc/shells
sed "s/$address/ADDRESS/" /etc/nginx/sites-enabled/default
readlink /etc/nginx/sites-enabled/default
dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' nginx nginx-common
systemctl is-active nginx
systemctl is-enabled nginx
cat /proc/sys/kernel/domainname
exec 3<>/dev/tcp/$address/8080 && printf 'GET /3.html HTTP/1.0\r\n\r\n' >&3 && grep h1 <&3
