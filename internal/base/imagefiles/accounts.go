package imagefiles

import "io/fs"

// The usual accounts of Linux, with the numbers that docker's busybox image has too. Programs such as
// ssh and id refuse to run for a user without a name.
const (
	passwd = `root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/bin/false
bin:x:2:2:bin:/bin:/bin/false
sys:x:3:3:sys:/dev:/bin/false
sync:x:4:100:sync:/bin:/bin/sync
mail:x:8:8:mail:/var/spool/mail:/bin/false
www-data:x:33:33:www-data:/var/www:/bin/false
operator:x:37:37:operator:/var:/bin/false
nobody:x:65534:65534:nobody:/:/bin/false
`
	group = `root:x:0:
daemon:x:1:
bin:x:2:
sys:x:3:
adm:x:4:
tty:x:5:
disk:x:6:
mail:x:8:
www-data:x:33:
operator:x:37:
staff:x:50:
users:x:100:
nobody:x:65534:
`
)

// AddAccounts adds /etc/passwd, /etc/group and the home of root, as far as the files do not have them.
func (s *Set) AddAccounts() error {
	for _, f := range []struct {
		target string
		file
	}{
		{"/etc/passwd", file{mode: 0o644, data: []byte(passwd)}},
		{"/etc/group", file{mode: 0o644, data: []byte(group)}},
		{"/root", file{mode: fs.ModeDir | 0o700}},
	} {
		if !s.Has(f.target) {
			if err := s.put(f.target, f.file); err != nil {
				return err
			}
		}
	}
	return nil
}
