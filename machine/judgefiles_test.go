//go:build machines

package main

import (
	"fmt"
	"strings"
)

func judgedFile(d draw) judged {
	path := fmt.Sprintf("/srv/judged/file%d", d.slot)
	j := judged{check: "find " + path + " -printf '%p %y %m %u %g %s %l\\n'; sha256sum " + path}
	if d.round == 0 || d.chance(4) {
		j.before = d.one(":", "echo old >"+path+"; chmod 4711 "+path+"; chown games:adm "+path,
			"ln -sf /etc/hostname "+path, "echo x >>"+path, "chmod 000 "+path, ": >"+path)
	}
	if d.absent() {
		if strings.HasPrefix(j.before, "ln ") { // By design: what somebody else has put in its place is not removed with it.
			j.before = ""
		}
		j.tasks = []map[string]any{task("ansible.builtin.file", map[string]any{"path": path, "state": "absent"})}
		return j
	}
	content := d.one("", "one\n", "no newline", "\n\n", "tab\t and blanks  \n", "ümläut ☃\n", "it's \"quoted\" $HOME `x` \\n\n",
		"crlf\r\nends\r\n", strings.Repeat("a long line ", 9000)+"\n", fmt.Sprintf("round %d\n", d.round))
	same := d.some(map[string]any{"mode": d.one("0644", "0600", "0000", "4755", "2711", "1666", "0444", "7777"),
		"owner": d.one("root", "daemon", "games", "1"), "group": d.one("root", "adm", "www-data", "4")})
	j.config = with(same, map[string]any{"path": path, "content": content})
	j.tasks = []map[string]any{task("ansible.builtin.copy", with(same, map[string]any{"dest": path, "content": content}))}
	return j
}

// By design: a last line without an end keeps that with deployster, and gets one with Ansible, which adds a line that is to be after
// that one to its end. The file is another one in each round:
// deployster replaces the line that it has made before, and Ansible has no record of it.
func judgedLine(d draw) judged {
	path := fmt.Sprintf("/srv/judged/line%d", d.slot)
	key := d.one("Port", "Listen", "User")
	line := fmt.Sprintf("%s %s%d", key, d.one("a ", "", "\"b\" # "), d.round)
	absent := d.absent()
	if absent {
		line = d.last[d.slot]
	}
	d.last[d.slot] = line
	lines := []string{"# comment", "[anchor]", "Other 1", "", "  indented", "[last]"}
	switch d.IntN(4) {
	case 0:
		lines = append(lines, line)
	case 1:
		lines = append(lines, "#"+key+" old")
	case 2:
		lines = append(lines, key+"\told")
	}
	d.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
	config, args := map[string]any{"path": path, "id": "judged", "line": line}, map[string]any{"path": path, "line": line}
	end := d.one("", "\n")
	place := func(ours, theirs, pattern string) { config[ours], args[theirs], end = pattern, pattern, "\n" }
	if d.chance(2) {
		config["match"], args["regexp"] = "^#?"+key+"\\b", "^#?"+key+"\\b"
	}
	switch d.IntN(4) {
	case 0:
		place("after", "insertafter", "^\\[anchor\\]")
	case 1:
		place("before", "insertbefore", "^\\[last\\]")
	case 2:
		place("after", "insertafter", "^[O#]")
	}
	j := judged{before: fmt.Sprintf("printf '%%s' '%s%s' >%s; chmod %s %s; chown games %s", strings.Join(lines, "\n"), end, path,
		d.one("644", "600", "4755"), path, path),
		check: "find " + path + " -printf '%p %y %m %u %g\\n'; sed '$a\\' " + path}
	if absent {
		j.tasks = []map[string]any{task("ansible.builtin.lineinfile", map[string]any{"path": path, "line": line, "state": "absent"})}
		return j
	}
	j.config, j.tasks = config, []map[string]any{task("ansible.builtin.lineinfile", args)}
	return j
}
