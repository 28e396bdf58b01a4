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

// prepared installs the three engines, and makes two images in each. The machines have the network of this one, so that
// docker gets none of its own. An overlay cannot be on an overlay, which the root of a machine is.
const prepared = `exec </dev/null; export DEBIAN_FRONTEND=noninteractive; set -e
mkdir -p /etc/containers /etc/docker /var/lib/containerd /srv/image/bin
printf '[storage]\ndriver="vfs"\nrunroot="/run/containers/storage"\ngraphroot="/var/lib/containers/storage"\n' >/etc/containers/storage.conf
echo '{"bridge": "none", "iptables": false, "ip6tables": false, "ip-forward": false, "storage-driver": "vfs"}' >/etc/docker/daemon.json
mount -t tmpfs tmpfs /var/lib/containerd
apt-get update -q
apt-get install -qy --no-install-recommends podman crun busybox-static docker.io
cp /bin/busybox /srv/image/bin/sh
for n in 1 2; do
	for engine in podman docker; do
		tar -C /srv/image -c . | $engine import -m $n - localhost/test:$n
	done
	docker save localhost/test:$n | nerdctl load -q
done`

func TestMain(m *testing.M) {
	os.Exit(machines.RunInsideWith(m, []string{"../../../bin/nerdctl"}, prepared))
}

// each runs a test with each engine.
func each(t *testing.T, test func(*testing.T, string)) {
	for _, one := range engines {
		t.Run(one.name, func(t *testing.T) { test(t, one.name) })
	}
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

func TestContainer_IsReplacedOnlyIfItsSpecOrImageDiffers(t *testing.T) { each(t, isReplaced) }

func isReplaced(t *testing.T, engine string) {
	r := container(t)
	c := kindtest.Config{"name": "web", "engine": engine, "image": "localhost/test:1", "network": "none", "env": map[string]string{"A": "50% $HOME"},
		"command": []string{"/bin/sh", "-c", `trap "exit 0" TERM; echo "$A $0" >/data/out; sleep 1000 & wait`, "100% x"},
		"volumes": []string{"/srv/data:/data"}}
	shell(t, "mkdir -p /srv/data")
	r.Apply(c)
	id := func() string { return shell(t, engine+` container inspect web | grep -m 1 '"Id"'`) }
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
	shell(t, engine+" tag localhost/test:2 localhost/test:1") // the name has another image now
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
	if got := shell(t, engine+" ps -aq; systemctl show -p LoadState --value container-web; ls /etc/deployster-containers"); got != "not-found" {
		t.Errorf("%s", got)
	}
	r.Destroy(c)
}

func TestContainer_OfSomebodyElseIsKept(t *testing.T) { each(t, isKept) }

func isKept(t *testing.T, engine string) {
	shell(t, engine+" run -d --network none --name theirs localhost/test:2 /bin/sh -c 'sleep 1000'")
	defer shell(t, engine+" rm -f theirs")
	r := container(t)
	c := kindtest.Config{"name": "theirs", "engine": engine, "image": "localhost/test:2"}
	r.Fails(c, "config", "/name", engine+" has a container theirs that somebody else made")
	r.Destroy(c)
	shell(t, engine+" container inspect theirs")
}

func TestContainer_ThatFailsShowsWhy(t *testing.T) { each(t, showsWhy) }

func showsWhy(t *testing.T, engine string) {
	r := container(t)
	c := kindtest.Config{"name": "fails", "engine": engine, "image": "localhost/test:2", "network": "none", "restart": "no",
		"command": []string{"/bin/sh", "-c", "echo the port is taken; exit 3"}}
	r.Fails(c, "container-fails.service", "the port is taken")
	r.Destroy(c)
	r.Fails(kindtest.Config{"name": "none", "engine": engine, "image": "localhost:1/no/such:1"}, engine+" pull")
	where := shell(t, "command -v "+engine)
	shell(t, "mv "+where+" /run/away")
	defer shell(t, "mv /run/away "+where)
	later := kindtest.Config{"name": "later", "image": "x", "engine": engine}
	if a := r.State(later); a.Status != protocol.Stale || a.Reasons[0].Message != "this machine does not have "+engine+" yet" {
		t.Errorf("%+v", a)
	}
	r.Fails(later, "this machine does not have "+engine+": install one of them first")
}

// Without an engine in the config it is the first that the machine has.
func TestContainer_EngineIsTheFirstThatThereIs(t *testing.T) {
	for _, one := range engines {
		r := container(t)
		c := kindtest.Config{"name": "first", "image": "localhost/test:2", "network": "none",
			"command": []string{"/bin/sh", "-c", `trap "exit 0" TERM; sleep 1000 & wait`}}
		r.Apply(c)
		if got := shell(t, one.name+" ps -q | wc -l"); got != "1" {
			t.Errorf("%s has %s containers", one.name, got)
		}
		r.Destroy(c)
		where := shell(t, "command -v "+one.name)
		shell(t, "mv "+where+" /run/"+one.name)
		defer shell(t, "mv /run/"+one.name+" "+where)
	}
}
