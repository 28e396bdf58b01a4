//go:build machines

package containers

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, `mkdir -p /etc/containers
printf '[storage]\ndriver="vfs"\nrunroot="/run/containers/storage"\ngraphroot="/var/lib/containers/storage"\n' >/etc/containers/storage.conf
apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends podman crun busybox-static
mkdir -p /srv/image/bin && cp /bin/busybox /srv/image/bin/sh
tar -C /srv/image -c . | podman import -q - localhost/test:1
tar -C /srv/image -c . | podman import -q -m second - localhost/test:2`))
}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func container(t *testing.T) *kindtest.Resource {
	return kindtest.New(t, New(&access.Machine{Root: "/"}))
}

func TestContainer_IsReplacedOnlyIfItsSpecOrImageDiffers(t *testing.T) {
	r := container(t)
	c := kindtest.Config{"name": "web", "image": "localhost/test:1", "network": "none", "env": map[string]string{"A": "50% $HOME"},
		"command": []string{"/bin/sh", "-c", `trap "exit 0" TERM; echo "$A $0" >/data/out; sleep 1000 & wait`, "100% x"},
		"volumes": []string{"/srv/data:/data"}}
	shell(t, "mkdir -p /srv/data")
	r.Apply(c)
	id := func() string { return shell(t, "podman container inspect -f '{{.Id}}' web") }
	first := id()
	if got := shell(t, "cat /srv/data/out; systemctl is-enabled container-web; stat -c %a /etc/deployster-containers/web.env; grep -c HOME "+
		"/etc/systemd/system/container-web.service || true"); got != "50% $HOME 100% x\nenabled\n600\n0" {
		t.Errorf("%s", got)
	}
	r.Apply(c)
	shell(t, "systemctl disable container-web")
	if a := r.Apply(c); len(a.Reasons) != 1 || id() != first {
		t.Errorf("%+v, and it is %s instead of %s", a.Reasons, id(), first)
	}
	c["env"] = map[string]string{"A": "other"}
	if a := r.Apply(c); a.Reasons[0].Path != "/env" || id() == first {
		t.Errorf("%+v", a.Reasons)
	}
	second := id()
	shell(t, "podman tag localhost/test:2 localhost/test:1") // the name has another image now
	if a := r.Apply(c); len(a.Reasons) == 0 || id() == second {
		t.Errorf("%+v", a.Reasons)
	}
	events := r.Watch(c)
	shell(t, "systemctl stop container-web")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "it does not run" {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(c)
	if got := shell(t, "podman ps -aq; systemctl show -p LoadState --value container-web; ls /etc/deployster-containers"); got != "not-found" {
		t.Errorf("%s", got)
	}
	r.Destroy(c)
}

func TestContainer_OfSomebodyElseIsKept(t *testing.T) {
	shell(t, "podman run -d --network none --name theirs localhost/test:2 /bin/sh -c 'sleep 1000'")
	defer shell(t, "podman rm -f -t 0 theirs")
	r := container(t)
	c := kindtest.Config{"name": "theirs", "image": "localhost/test:2"}
	r.Fails(c, "config", "/name", "podman has a container theirs that somebody else made")
	r.Destroy(c)
	shell(t, "podman container exists theirs")
}

func TestContainer_ThatFailsShowsWhy(t *testing.T) {
	r := container(t)
	c := kindtest.Config{"name": "fails", "image": "localhost/test:2", "network": "none", "restart": "no",
		"command": []string{"/bin/sh", "-c", "echo the port is taken; exit 3"}}
	r.Fails(c, "container-fails.service", "the port is taken")
	r.Destroy(c)
	r.Fails(kindtest.Config{"name": "none", "image": "localhost:1/no/such:1"}, "podman pull")
	if a := r.State(kindtest.Config{"name": "later", "image": "x", "engine": "nerdctl"}); a.Status != protocol.Stale ||
		a.Reasons[0].Message != "this machine does not have nerdctl yet" {
		t.Errorf("%+v", a)
	}
	r.Fails(kindtest.Config{"name": "later", "image": "x", "engine": "nerdctl"}, "this machine does not have nerdctl: install one of them first")
}
