package containerd

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/agent"
	"deployster/containerd/agentconn"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// confinement prints what a program is held in, as it sees it itself, less what
// differs from one process or container to the next.
const confinement = `
me=/proc/$$
grep -vE '^(Name|Pid|PPid|Tgid|Ngid|NSpid|NSpgid|NSsid|NStgid|Vm|Rss|Hugetlb|Threads|SigQ|SigCgt|voluntary|nonvoluntary|Mems|State|FDSize)' $me/status
for f in limits cgroup attr/current oom_score_adj personality timerslack_ns coredump_filter loginuid setgroups uid_map gid_map; do
	echo "$f:"; cat $me/$f 2>&1
done
echo "environment:"; tr '\0' '\n' <$me/environ
set -- $(cat $me/stat)
[ "$5" = "$1" ] && [ "$6" = "$1" ] && echo "leads its session and its group"
echo "terminal $7, priority ${18} ${19} ${40} ${41}"
stat -c '%n %F %u:%g %a %N' $me/cwd $me/root | sed "s,$me,me,g"
for f in $me/fd/*; do
	echo "${f##*/} $(stat -L -c '%F %u:%g %a' $f) $(grep flags $me/fdinfo/${f##*/} | tr -d '\t')"
done
for f in 0 1 2; do [ -e /proc/self/fd/$f ] && (: 2>/dev/null >>/proc/self/fd/$f) && echo "$f can be opened again"; done
pwd
ls -d /proc/sys/net/ipv4/conf/* /dev/*
grep -vE '^overlay|deployster-agent' /proc/mounts
id
`

// What a program that shares a container may do is what it might in one of its own.
func TestSharedContainer_IsConfinedAlike(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	files := map[string]string{"etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1234::/home/app:/bin/sh\n", "etc/group": "more:x:77:app\n"}
	for name, c := range map[string]struct {
		pack     imagestore.PackOptions
		settings runner.Settings
	}{
		"root": {},
		"user": {imagestore.PackOptions{User: "app", WorkingDir: "/some/where", Env: map[string]string{"HOME": "", "GOMAXPROCS": "7", "A": "b c"}},
			runner.Settings{Capabilities: runner.Capabilities{Add: []string{"NET_BIND_SERVICE"}}, ReadOnlyRootFS: true, PIDs: 20, Memory: 64 << 20, Network: runner.NoNetwork}},
		"namespace": {imagestore.PackOptions{User: "app"}, runner.Settings{UserNS: runner.AutoUserNS}},
	} {
		o := c.pack
		o.Reference, o.Entrypoint = "test/"+name+":1", []string{"/bin/sh", "-c"}
		dgst := pack(t, r, o, files)
		ask := func(shared bool, script string) string {
			t.Helper()
			res, err := r.Run(context.Background(), runner.Spec{Name: name, Kind: runner.Query, Digest: dgst, Args: []string{script}, Reuse: shared, Timeout: time.Minute, Settings: c.settings})
			if err != nil || res.ExitCode != 0 {
				t.Errorf("%s: %d, %v, %s", name, res.ExitCode, err, res.Stderr)
			}
			return string(res.Stdout)
		}
		own, shared := ask(false, confinement), ask(true, confinement)
		if n := strings.Count(own, "\n"); own != shared || n < 60 || !strings.Contains(own, "leads its session") || !strings.Contains(own, "Seccomp:\t2\n") {
			t.Errorf("%s: alone it is held in (%d lines)\n%s\nand in a container that it shares\n%s", name, n, own, shared)
		}
		// The first process is not for the others to look into, nor to end.
		spied := ask(true, "kill -TERM 1; kill -SEGV 1; kill -QUIT 1; kill -KILL 1; cat /proc/1/environ /proc/1/mem 2>/dev/null | wc -c; ls -l /proc/1/ /proc/1/fd 2>/dev/null | grep -e '-> '; exit 0")
		if spied != "0\n" {
			t.Errorf("%s: of the first process is seen %q", name, spied)
		}
	}
	if containers, queries := sharedCounts(r); containers != 3 || queries != 6 {
		t.Errorf("%d containers have carried out %d queries, not 3 and 6", containers, queries)
	}
	if err := r.closeIdle(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, r)
}

// Where the agent cannot be used, each query has a container of its own.
func TestSharedContainers_NotWithoutAgent(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"missing": "", "another": "/bin/true", "no program": "/etc/passwd"} {
		r := open(t, embedded(t))
		r.shared.agent = program
		dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
		for range 2 {
			res, err := r.Run(context.Background(), runner.Spec{Name: name, Kind: runner.Query, Digest: dgst, Stdin: []byte("in"), Args: []string{"cat; exit 3"}, Reuse: true})
			if err != nil || string(res.Stdout) != "in" || res.ExitCode != 3 {
				t.Errorf("%s: %q, %d, %v", name, res.Stdout, res.ExitCode, err)
			}
		}
		if containers, queries := sharedCounts(r); containers != 0 || queries != 0 {
			t.Errorf("%s: %d containers have carried out %d queries, not 0 and 0", name, containers, queries)
		}
	}
}

// An agent that lies, or says nothing more, costs its container and not the answer.
func TestAgent_ItsOutputIsNotTrusted(t *testing.T) {
	t.Parallel()
	ended := func(status uint32) []byte { return []byte{'E', 0, 0, 0, byte(status), byte(status >> 8), 0, 0} }
	for name, c := range map[string]struct {
		says   []byte
		killed bool
		code   int // -1 = unknown
	}{
		"ends":           {says: ended(3 << 8), code: 3},
		"by a signal":    {says: ended(uint32(unix.SIGTERM)), code: 143},
		"stops":          {says: ended(0x137f), code: -1},
		"gone":           {code: -1},
		"killed":         {killed: true, code: 137},
		"half":           {says: ended(0)[:5], code: -1},
		"noise":          {says: []byte("GET / HTTP/1.1\r\n\r\n"), code: -1},
		"not empty":      {says: []byte{'E', 1, 0, 0, 0, 0, 0, 0}, code: -1},
		"begins again":   {says: []byte{'S', 0, 0, 0, 7, 0, 0, 0}, code: -1},
		"another kind":   {says: []byte{'X', 0, 0, 0, 7, 0, 0, 0}, code: -1},
		"fails too late": {says: []byte{'F', 0, 0, 0, 2, 0, 0, 0}, code: -1},
	} {
		ours, theirs := connected(t)
		w := &sharedContainer{agent: &agentconn.Conn{UnixConn: ours}}
		w.killed.Store(c.killed)
		if _, err := theirs.Write(c.says); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		if got := w.awaitEnd(); c.code < 0 && got.Err == nil || c.code >= 0 && (got.Err != nil || got.Code != c.code) {
			t.Errorf("%s: %d, %v, want %d", name, got.Code, got.Err, c.code)
		}
		_ = ours.Close()
	}
	// Files that it sends are not taken in.
	ours, theirs := connected(t)
	defer ours.Close()
	defer theirs.Close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(pipe[0]), "pipe")
	defer out.Close()
	if _, _, err := theirs.WriteMsgUnix(ended(0), unix.UnixRights(pipe[1]), nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Close(pipe[1]), out.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	if said, err := (&agentconn.Conn{UnixConn: ours}).Reply(); err != nil || said.Kind != agent.Ended {
		t.Errorf("%v, %v", said, err)
	}
	if _, err := out.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("what was sent is open here: %v", err)
	}
}

// connected returns two ends of a connection.
func connected(t *testing.T) (ours, theirs *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "end")
		conn, err := net.FileConn(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		ends[i] = conn.(*net.UnixConn)
	}
	return ends[0], ends[1]
}
