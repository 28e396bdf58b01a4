//go:build machines

package accounts

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func TestMain(m *testing.M) { os.Exit(machines.RunInside(m)) }

type config = kindtest.Config

var here = &access.Machine{Root: "/"}

func userOf(t *testing.T) *kindtest.Resource  { return kindtest.New(t, NewUser(here)) }
func groupOf(t *testing.T) *kindtest.Resource { return kindtest.New(t, NewGroup(here)) }
func keyOf(t *testing.T) *kindtest.Resource   { return kindtest.New(t, NewKey(here)) }

func forget(t *testing.T, users ...string) {
	t.Helper()
	t.Cleanup(func() {
		for _, name := range users {
			kindtest.Shell(t, "pkill -KILL -u "+name+" 2>/dev/null; sleep 0.05; userdel -rf "+name+" 2>/dev/null; groupdel "+name+" "+
				"2>/dev/null; rm -rf /home/"+name+"; true")
		}
	})
}

func TestUser_IsMadeChangedAndRemoved(t *testing.T) {
	forget(t, "ann")
	r := userOf(t)
	r.Apply(config{"name": "ann"})
	if line := kindtest.Shell(t, "getent passwd ann; stat -c %U /home/ann; ls -A /home/ann | head -1; id -gn ann"); line !=
		"ann:x:1000:1000::/home/ann:/bin/sh\nann\n.bash_logout\nann" {
		t.Errorf("it is %q", line)
	}
	full := config{"name": "ann", "uid": 1234, "shell": "/bin/bash", "comment": "Ann Ähm, x", "group": "users", "expires": "2031-12-31"}
	r.Apply(full)
	if line := kindtest.Shell(t, "getent passwd ann; getent shadow ann | cut -d: -f8"); line != "ann:x:1234:100:Ann Ähm, "+
		"x:/home/ann:/bin/bash\n22644" {
		t.Errorf("it is %q", line)
	}
	r.Valid(full)
	r.Valid(config{"name": "ann"}) // what the config leaves out is not managed
	r.Apply(config{"name": "ann", "expires": "never"})
	if days := kindtest.Shell(t, "getent shadow ann | cut -d: -f8"); days != "" {
		t.Errorf("it expires at %s", days)
	}
	gone := r.Destroy(config{"name": "ann"})
	if gone.Actions[0].Destructive || !strings.Contains(gone.Actions[0].Description, "keep its home /home/ann") {
		t.Errorf("%+v", gone.Actions)
	}
	if _, err := os.Stat("/home/ann"); err != nil {
		t.Error("its home was removed")
	}
}

// 2031-12-31 is day 22644, in whatever zone the machine is.
func TestUser_ExpiresAtTheDeclaredDay(t *testing.T) {
	forget(t, "ann")
	defer os.Unsetenv("TZ")
	for _, zone := range []string{"Pacific/Kiritimati", "America/Los_Angeles", "UTC"} {
		kindtest.Shell(t, "echo "+zone+" >/etc/timezone; ln -sf /usr/share/zoneinfo/"+zone+" /etc/localtime")
		r := userOf(t)
		r.Apply(config{"name": "ann", "expires": "2031-12-31"})
		if days := kindtest.Shell(t, "getent shadow ann | cut -d: -f8"); days != "22644" {
			t.Errorf("in %s it is day %s", zone, days)
		}
		r.Destroy(config{"name": "ann"})
	}
}

func TestUser_NeverLosesGroupsByDefault(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m -G audio,video ann")
	r := userOf(t)
	a := r.Apply(config{"name": "ann", "groups": []string{"cdrom"}})
	if groups := kindtest.Shell(t, "id -Gn ann"); groups != "ann cdrom audio video" {
		t.Errorf("its groups are %s", groups)
	}
	if !strings.Contains(string(a.Forecast), `"groups":["audio","cdrom","video"]`) {
		t.Errorf("the forecast is %s", a.Forecast)
	}
	r.Valid(config{"name": "ann", "groups": []string{"video", "audio"}})
	r.Apply(config{"name": "ann", "groups": []string{"video"}, "membership": "inclusive"})
	if groups := kindtest.Shell(t, "id -Gn ann"); groups != "ann video" {
		t.Errorf("its groups are %s", groups)
	}
	r.Apply(config{"name": "ann", "groups": []string{}, "membership": "inclusive"})
	if groups := kindtest.Shell(t, "id -Gn ann"); groups != "ann" {
		t.Errorf("its groups are %s", groups)
	}
	r.Valid(config{"name": "ann", "groups": []string{}})
}

func TestUser_HashesAreTextAndNeverShown(t *testing.T) {
	forget(t, "ann")
	one, two := "$6$saltsalt$onehash", "$6$saltsalt$twohash"
	r := userOf(t)
	r.Fails(config{"name": "ann", "password_hash": "in the clear"}, "config", "/password_hash")
	r.Apply(config{"name": "ann", "password_hash": one})
	if hash := kindtest.Shell(t, "getent shadow ann | cut -d: -f2"); hash != one {
		t.Errorf("the hash is %q", hash)
	}
	r.Valid(config{"name": "ann", "password_hash": one})
	r.Valid(config{"name": "ann", "password_hash": one, "comment": ""})
	r.Apply(config{"name": "ann", "password_hash": two})
	kindtest.Shell(t, "usermod -p '"+one+"' ann")
	a := r.Apply(config{"name": "ann", "password_hash": two})
	text, _ := json.Marshal(a)
	if !strings.Contains(string(text), "another hash") || strings.Contains(string(text), "hash\":\"$") ||
		strings.Contains(string(text), "onehash") {
		t.Errorf("the answer is %s", text)
	}
	if strings.Contains(r.Log.String(), "twohash") || strings.Contains(string(r.Last), "twohash") {
		t.Errorf("it is shown: %s %s", r.Log.String(), r.Last)
	}
}

func TestUser_HomeIsMovedOnlyIfDeclared(t *testing.T) {
	forget(t, "ann")
	r := userOf(t)
	r.Apply(config{"name": "ann"})
	kindtest.Shell(t, "touch /home/ann/mine")
	r.Apply(config{"name": "ann", "home": "/srv/ann"})
	if out := kindtest.Shell(t, "ls /home/ann; stat -c %U:%a /srv/ann"); out != "mine\nann:755" {
		t.Errorf("%q", out)
	}
	kindtest.Shell(t, "usermod -d /home/ann ann")
	r.Fails(config{"name": "ann", "home": "/srv/ann", "move_home": true}, "config", "/move_home", "exists already")
	kindtest.Shell(t, "rm -r /srv/ann")
	r.Apply(config{"name": "ann", "home": "/srv/ann", "move_home": true})
	if out := kindtest.Shell(t, "ls /srv/ann; ls -d /home/ann 2>/dev/null || true"); out != "mine" {
		t.Errorf("%q", out)
	}
	if a := r.Destroy(config{"name": "ann", "remove_home": true}); !a.Actions[0].Destructive {
		t.Errorf("%+v", a.Actions)
	}
	if _, err := os.Stat("/srv/ann"); err == nil {
		t.Error("its home is left")
	}
}

// A home directory that is made later is as useradd makes one.
func TestUser_HomeIsMadeAsForANewUser(t *testing.T) {
	forget(t, "ann", "bob")
	r := userOf(t)
	want := kindtest.Shell(t, "mkdir -p /etc/skel/bin && echo x >/etc/skel/bin/x && chmod 750 /etc/skel/bin/x && "+
		"ln -s x /etc/skel/bin/y; useradd -m bob; cd /home/bob && find . -printf '%p %y %m %l\n' | sort")
	kindtest.Shell(t, "useradd -M ann")
	r.Valid(config{"name": "ann"})
	r.Apply(config{"name": "ann", "home": "/home/ann"})
	r.Valid(config{"name": "ann", "home": "/home/ann"})
	if out := kindtest.Shell(t, "cd /home/ann && find . -printf '%p %y %m %l\n' | sort"); out != want {
		t.Errorf("it has\n%s\nand a new one\n%s", out, want)
	}
	if out := kindtest.Shell(t, "find /home/ann ! -user ann -o ! -group ann; ls -A /home; rm -r /etc/skel/bin"); out != "ann\nbob" {
		t.Errorf("%q", out)
	}
	kindtest.Shell(t, "rm -r /home/ann")
	if a := r.Apply(config{"name": "ann", "home": "/home/ann"}); !strings.Contains(string(a.Reasons[0].Message), "does not exist") {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(config{"name": "ann", "remove_home": true})
	r.Apply(config{"name": "ann", "system": true, "home": "/nonexistent"})
	r.Valid(config{"name": "ann", "system": true, "home": "/nonexistent"})
	if _, err := os.Stat("/nonexistent"); err == nil {
		t.Error("/nonexistent was made")
	}
}

func TestUser_HomeOfOthersIsNotRemoved(t *testing.T) {
	forget(t, "ann")
	r := userOf(t)
	r.Apply(config{"name": "ann", "home": "/srv/shared"})
	kindtest.Shell(t, "chown daemon /srv/shared")
	r.DestroyFails(config{"name": "ann", "remove_home": true}, "config", "/remove_home", "is not removed")
	kindtest.Shell(t, "getent passwd ann; rm -r /srv/shared")
	r.Destroy(config{"name": "ann", "remove_home": true})
}

func TestUser_OfTheSystemHasNoHomeUnlessGiven(t *testing.T) {
	forget(t, "daemon1", "daemon2")
	userOf(t).Apply(config{"name": "daemon1", "system": true, "shell": "/usr/sbin/nologin"})
	if out := kindtest.Shell(t, "test $(id -u daemon1) -lt 1000; ls -d /home/daemon1 2>/dev/null || true"); out != "" {
		t.Errorf("%q", out)
	}
	userOf(t).Apply(config{"name": "daemon2", "system": true, "home": "/srv/daemon2"})
	if out := kindtest.Shell(t, "ls -A /srv/daemon2; stat -c %U /srv/daemon2; rmdir /srv/daemon2"); out != "daemon2" {
		t.Errorf("%q", out)
	}
}

func TestUser_RemovalNamesWhatStillRuns(t *testing.T) {
	forget(t, "ann")
	r := userOf(t)
	r.Apply(config{"name": "ann"})
	kindtest.Shell(t, "setsid -f su ann -c 'exec sleep 1000' </dev/null >/dev/null 2>&1; sleep 0.3")
	if a := r.State(config{"name": "ann"}); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	r.DestroyFails(config{"name": "ann"}, "still runs", "(sleep)")
	kindtest.Shell(t, "pkill -KILL -u ann; sleep 0.1")
	r.Destroy(config{"name": "ann"})
}

func TestUser_MissingGroupsAreReported(t *testing.T) {
	forget(t, "ann")
	r, c := userOf(t), config{"name": "ann", "groups": []string{"comes-later"}}
	if a := r.State(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/groups/0" {
		t.Errorf("%+v", a.Reasons)
	}
	r.Fails(c, "comes-later", "does not exist")
	groupOf(t).Apply(config{"name": "comes-later", "system": true})
	r.Apply(c)
	kindtest.Shell(t, "userdel -r ann 2>/dev/null; groupdel comes-later")
}

// The tools lock the files, and fail if another one has them.
func TestUsers_AreMadeSideBySide(t *testing.T) {
	names := []string{"u1", "u2", "u3", "u4", "u5", "u6"}
	forget(t, names...)
	var all sync.WaitGroup
	for _, name := range names {
		r := userOf(t)
		all.Go(func() { r.Apply(config{"name": name, "groups": []string{"audio"}}) })
	}
	all.Wait()
	if n := kindtest.Shell(t, "getent group audio | tr , '\\n' | grep -c u"); n != "6" {
		t.Errorf("%s of them are in the group", n)
	}
}

func TestUser_LocksOfOthersAreWaitedFor(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "echo 1 >/etc/passwd.lock") // as an editor of the file has it
	time.AfterFunc(1500*time.Millisecond, func() { _ = os.Remove("/etc/passwd.lock") })
	userOf(t).Apply(config{"name": "ann"})
}

func TestGroup_IsMadeChangedAndRemoved(t *testing.T) {
	r := groupOf(t)
	r.Apply(config{"name": "staff2", "gid": 4321})
	r.Apply(config{"name": "staff2", "gid": 4322})
	if line := kindtest.Shell(t, "getent group staff2"); line != "staff2:x:4322:" {
		t.Errorf("it is %s", line)
	}
	r.Valid(config{"name": "staff2"})
	kindtest.Shell(t, "useradd -g staff2 ann")
	r.DestroyFails(config{"name": "staff2"}, "primary group", "ann")
	kindtest.Shell(t, "userdel ann")
	r.Destroy(config{"name": "staff2"})
	r.Fails(config{"name": "staff2", "gid": 0}, "already exists")
}

func TestKey_OpensTheAccount(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m ann; rm -f /srv/k /srv/k.pub; ssh-keygen -q -t ed25519 -N '' -C me@here -f /srv/k")
	pub := strings.Fields(kindtest.Shell(t, "cat /srv/k.pub"))
	key := pub[0] + " " + pub[1]
	r := keyOf(t)
	r.Fails(config{"user": "ann", "key": key + " me@here"}, "config", "/key", "comment")
	r.Apply(config{"user": "ann", "key": key, "comment": "me"})
	address := strings.Fields(kindtest.Shell(t, "cat /etc/ssh/sshd_config.d/listen.conf"))[1]
	host, port, _ := strings.Cut(address, ":")
	login := "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i /srv/k " +
		"-p " + port + " ann@" + host + " id -un"
	if who := kindtest.Shell(t, login); who != "ann" {
		t.Errorf("%q has logged in", who)
	}
	if out := kindtest.Shell(t, "stat -c %U:%G:%a /home/ann/.ssh /home/ann/.ssh/authorized_keys; cat /home/ann/.ssh/authorized_keys"); out !=
		"ann:ann:700\nann:ann:600\n"+key+" me" {
		t.Errorf("%q", out)
	}
	r.Valid(config{"user": "ann", "key": key})
	kindtest.Shell(t, "chmod 666 /home/ann/.ssh/authorized_keys; ! "+login+" 2>/dev/null")
	if a := r.Apply(config{"user": "ann", "key": key}); !strings.Contains(a.Reasons[0].Message, "sshd ignores it") {
		t.Errorf("%+v", a.Reasons)
	}
	r.Apply(config{"user": "ann", "key": key, "options": []string{`command="echo no"`}})
	if who := kindtest.Shell(t, login); who != "no" {
		t.Errorf("it is allowed %q", who)
	}
	kindtest.Shell(t, "echo '"+keyB+" other' >>/home/ann/.ssh/authorized_keys")
	r.Destroy(config{"user": "ann", "key": key})
	if out := kindtest.Shell(t, "cat /home/ann/.ssh/authorized_keys"); out != keyB+" other" {
		t.Errorf("%q is left", out)
	}
}

// The user owns the directory, and could lead root anywhere.
func TestKey_FollowsNoLinks(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m ann; mkdir -p /srv/victim; rm -f /srv/victim/*; ln -s /srv/victim /home/ann/.ssh")
	r := keyOf(t)
	r.Fails(config{"user": "ann", "key": keyA}, "is a link, which is not followed")
	kindtest.Shell(t, "rm /home/ann/.ssh; mkdir /home/ann/.ssh; echo "+keyA+" >/srv/victim/keys; ln -s /srv/victim/keys "+
		"/home/ann/.ssh/authorized_keys")
	r.Fails(config{"user": "ann", "key": keyA}, "is a link, which is not followed")
	if out := kindtest.Shell(t, "ls /srv/victim; cat /srv/victim/keys"); out != "keys\n"+keyA {
		t.Errorf("%q", out)
	}
}

func TestKey_WaitsForItsUser(t *testing.T) {
	r := keyOf(t)
	if a := r.State(config{"user": "later", "key": keyA}); a.Actions[0].Name != "create" ||
		!strings.Contains(a.Reasons[0].Message, "no user later") {
		t.Errorf("%+v", a)
	}
	r.Fails(config{"user": "later", "key": keyA}, "there is no user later")
	r.Destroy(config{"user": "later", "key": keyA})
}

func TestAccounts_AreWatched(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m ann")
	for name, one := range map[string]struct {
		r      *kindtest.Resource
		config config
		change string
	}{
		"user":    {userOf(t), config{"name": "ann"}, "usermod -c x ann"},
		"group":   {groupOf(t), config{"name": "ann"}, "gpasswd -a root ann"},
		"ssh_key": {keyOf(t), config{"user": "ann", "key": keyA}, "mkdir /home/ann/.ssh; sleep 0.1; echo x >/home/ann/.ssh/authorized_keys"},
	} {
		events := one.r.Watch(one.config)
		kindtest.Shell(t, one.change)
		select {
		case <-events:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: no event came", name)
		}
	}
}

func TestAccounts_AreDiscovered(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m -G audio -c 'Ann' ann; mkdir -m 700 /home/ann/.ssh; echo '"+keyA+" me' "+
		">/home/ann/.ssh/authorized_keys; chown -R ann /home/ann/.ssh")
	for name, r := range map[string]*kindtest.Resource{"user": userOf(t), "group": groupOf(t), "ssh_key": keyOf(t)} {
		found := 0
		defaults := config{"name": "x"}
		if name == "ssh_key" {
			defaults = config{"user": "ann", "key": keyA}
		}
		for _, c := range r.Discover(defaults) {
			if c["name"] == "ann" || c["user"] == "ann" {
				found++
				r.Valid(c)
			}
		}
		if found != 1 {
			t.Errorf("%s lists it %d times", name, found)
		}
	}
}
