//go:build machines

package main

func editedFiles(server, sum string) []edited {
	return []edited{
		{kind: "file", config: map[string]any{"path": "/srv/file", "content": "a\n", "mode": "0640", "owner": "daemon", "group": "adm"}, edits: []edit{
			{"echo b >>/srv/file", "/content"}, {"chmod 600 /srv/file", "/mode"}, {"chown root /srv/file", "/owner"}, {"chgrp root /srv/file", "/group"},
			{": >/srv/file", "/content"}, {"touch -d 2001-01-01 /srv/file", ""}, {"rm /srv/file", gone}}},
		{kind: "directory", config: map[string]any{"path": "/srv/directory", "mode": "0750", "owner": "daemon", "group": "adm", "recursive": true},
			edits: []edit{{"chmod 700 /srv/directory", "/mode"}, {"chown root /srv/directory", "/owner"}, {"chgrp root /srv/directory", "/group"},
				{"touch /srv/directory/theirs", ""}, {"rm -r /srv/directory", gone}}},
		{kind: "link", config: map[string]any{"path": "/srv/link", "target": "/srv/file"}, edits: []edit{{"ln -sfn /srv/other /srv/link", "/target"},
			{"ln -sfn ../srv/file /srv/link", "/target"}, {"rm /srv/link", gone}, {"touch -h /srv/link", ""}}},
		{kind: "download", config: map[string]any{"path": "/srv/fetched", "url": server + "/a", "sha256": sum, "mode": "0640", "owner": "daemon",
			"group": "adm"}, edits: []edit{{"echo x >>/srv/fetched", "/sha256"}, {"chmod 600 /srv/fetched", "/mode"}, {"chown root /srv/fetched", "/owner"},
			{"chgrp root /srv/fetched", "/group"}, {"rm /srv/fetched", gone}}},
		{kind: "archive", config: map[string]any{"path": "/opt/archive", "url": server + "/a.tar", "sha256": sum}, edits: []edit{
			{"echo x >>/opt/archive/run", "/path"}, {"rm /opt/archive/LICENSE", "/path"}, {"ln -sfn /srv /opt/archive", "/path /sha256"}, {"rm /opt/archive", gone},
			{"touch /opt/archive/theirs", ""}}},
		{kind: "tree", before: "mkdir -p /srv/from/d; echo one >/srv/from/d/file; echo two >/srv/from/file",
			config: map[string]any{"path": "/srv/to", "source": "/srv/from", "owner": "daemon", "mode": "0640", "delete": true}, edits: []edit{
				{"echo x >>/srv/to/d/file", "/source"}, {"chown root /srv/to/file", "/source"}, {"chmod 600 /srv/to/file", "/source"},
				{"chmod 700 /srv/to/d", "/source"}, {"rm -r /srv/to/d", "/source"}, {"echo x >/srv/to/more", "/delete"},
				{"mkdir -p /srv/to/m; echo x >/srv/to/m/ore", "/delete"}, {"rm -r /srv/to", gone}}},
		{kind: "git", before: `mkdir /srv/repository.git; cd /srv/repository.git; git init -q -b main .; git config user.name a; git config user.email a@example.org
echo one >a; git add a; git commit -q -m one; echo two >b; git add b; git commit -q -m two`,
			config: map[string]any{"path": "/srv/checkout", "url": "/srv/repository.git", "revision": "main", "force": true}, edits: []edit{
				{"git -C /srv/checkout checkout -q HEAD~1", "/revision"}, {"echo x >>/srv/checkout/a", "/path"}, {"rm /srv/checkout/a", "/path"},
				{"git -C /srv/checkout remote set-url origin /srv/elsewhere.git", "/url"}, {"echo x >/srv/checkout/theirs", ""},
				{"git -C /srv/repository.git commit -q --allow-empty -m more", "/revision"}, {"rm -r /srv/checkout", gone}}},
		{kind: "exec", config: map[string]any{"name": "edited", "unless": "test -e /srv/made", "command": "touch /srv/made", "undo": "rm /srv/made"},
			edits: []edit{{"rm /srv/made", gone}, {"date >/srv/made", ""}}},
		{kind: "certificate", config: map[string]any{"path": "/srv/site.pem", "common_name": "web.example.org"}, edits: []edit{
			{"chmod 644 /srv/site.key", "/key_path"}, {alone + "rm /srv/site.key", "/key_path"}, {"chown daemon /srv/site.pem", "/owner"},
			{"chgrp adm /srv/site.key", "/group"}}},
	}
}

func editedTexts() []edited {
	return []edited{
		{kind: "line", before: `printf '# c\nPort 1\nOther\n' >/srv/line`, config: map[string]any{"path": "/srv/line", "id": "edited", "line": "Port 22",
			"match": "^#?Port\\b"}, edits: []edit{{"sed -i 's/^Port .*/Port 23/' /srv/line", "/line"}, {"sed -i 's/^Port/#Port/' /srv/line", "/line"},
			{"echo '# by hand' >>/srv/line", ""}, {"sed -i /Port/d /srv/line", gone}}},
		{kind: "text_block", before: "printf 'a\\nb\\n' >/srv/block", config: map[string]any{"path": "/srv/block", "id": "edited", "content": "one\ntwo\n"},
			edits: []edit{{"sed -i 's/^two$/three/' /srv/block", "/content"}, {"sed -i '/^two$/d' /srv/block", "/content"},
				{"sed -i 's/^one$/one\\nmore/' /srv/block", "/content"}, {"sed -i 's,^# \\(BEGIN\\|END\\),// \\1,' /srv/block", "/comment"},
				{"echo c >>/srv/block", ""}, {"sed -i '/BEGIN/,/END/d' /srv/block", gone}}},
		{kind: "ini", before: `printf '[a]\nx = 1\n' >/srv/app.ini`, config: map[string]any{"path": "/srv/app.ini", "section": "b", "key": "k", "value": "v"},
			edits: []edit{{"sed -i 's/^k.*/k = w/' /srv/app.ini", "/value"}, {"sed -i 's/^k.*/k=/' /srv/app.ini", "/value"},
				{"sed -i 's/^k *= */k=/' /srv/app.ini", ""}, {"sed -i 's/^x.*/x = 2/' /srv/app.ini", ""}, {"sed -i /^k/d /srv/app.ini", gone}}},
		{kind: "json", before: `printf '{"a": 1}' >/srv/app.json`, config: map[string]any{"path": "/srv/app.json", "pointer": "/b/c", "value": []any{1, "x"}},
			edits: []edit{{alone + `printf '{"a": 1, "b": {"c": [1]}}' >/srv/app.json`, "/value"}, {alone + `printf '{"b": {"c": null}}' >/srv/app.json`, "/value"},
				{alone + `printf '{"b":{"d":2,"c":[1,"x"]},"a":2}' >/srv/app.json`, ""}, {`printf '{"a": 1}' >/srv/app.json`, gone}}},
		{kind: "hosts_entry", config: map[string]any{"name": "db", "addresses": []string{"192.0.2.7"}}, edits: []edit{
			{"sed 's/192.0.2.7/192.0.2.8/' /etc/hosts >/tmp/hosts; cat /tmp/hosts >/etc/hosts", "/addresses"},
			{"grep -q theirs /etc/hosts || echo '192.0.2.9 theirs' >>/etc/hosts", ""}, {"sed '/ db/d; /\\tdb/d' /etc/hosts >/tmp/hosts; cat /tmp/hosts >/etc/hosts", gone}}},
		{kind: "cron", config: map[string]any{"name": "edited", "user": "root", "schedule": "30 3 * * 1-5", "command": "date +%F", "env": map[string]any{"A": "1"}},
			edits: []edit{{"sed -i 's/^30/31/' /etc/cron.d/edited", "/schedule"}, {"sed -i 's/ root / daemon /; s/\\troot\\t/\\tdaemon\\t/' /etc/cron.d/edited", "/user"},
				{"sed -i 's/date/true/' /etc/cron.d/edited", "/command"}, {"sed -i 's/^A=.*/A=2/' /etc/cron.d/edited", "/env"},
				{alone + "chmod 600 /etc/cron.d/edited", whole}, {alone + "chown daemon /etc/cron.d/edited", whole}, {"rm /etc/cron.d/edited", gone}}},
		{kind: "sudoers", config: map[string]any{"name": "edited", "content": "daemon ALL=(ALL) NOPASSWD: /usr/bin/id\n"}, edits: []edit{
			{"echo '# by hand' >>/etc/sudoers.d/edited", "/content"}, {"sed -i 's/daemon/games/' /etc/sudoers.d/edited", "/content"},
			{"chmod 640 /etc/sudoers.d/edited", whole}, {"chown daemon /etc/sudoers.d/edited", whole}, {"rm /etc/sudoers.d/edited", gone},
			{"echo 'daemon ALL=(ALL) /usr/bin/true' >/etc/sudoers.d/theirs", ""}}},
	}
}
