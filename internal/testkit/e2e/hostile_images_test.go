package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostileInits say bad things of themselves.
func hostileInits() []hostile {
	schema := func(name, schema, says string) hostile {
		return hostile{name: name, verdict: brokeProtocol, exit: 1, says: says, init: `echo '{"state_action":{"args":["state"]},"config_schema":` + schema + `}'`}
	}
	plug := func(name, path, verdict, says string) hostile {
		return hostile{name: name, verdict: verdict, exit: 1, says: says, init: `echo '{"state_action":{"args":["state"]},"plugs":{"world":{"container_path":"` + path + `"}}}'`}
	}
	const noFit = `refused: "Invalid config"`
	return []hostile{
		{name: "has a schema that refers to itself", verdict: noFit, exit: 1, says: `refers to itself without end`, init: `echo '{"state_action":{"args":["state"]},"config_schema":{"$ref":"#"}}'`},
		schema("has a schema that refers to a web page", `{"$ref":"http://127.0.0.1:9/x.json"}`, `nothing outside the schema itself may be read`),
		schema("has a schema that refers to a file", `{"$ref":"file:///etc/passwd"}`, `nothing outside the schema itself may be read`),
		schema("has a schema with a pattern that looks around", `{"properties":{"a":{"pattern":"(?=a)b"}}}`, `not a usable JSON Schema`),
		schema("has a schema that is none", `{"type":"objekt"}`, `not a usable JSON Schema`),
		schema("has a schema with a huge repetition", `{"properties":{"a":{"pattern":"((a{1000}){1000}){1000}"}}}`, `not a usable JSON Schema`),
		{name: "has a schema of two megabytes", verdict: brokeProtocol, exit: 1, says: `larger than 1048576 bytes`,
			init: `printf '{"state_action":{"args":["state"]},"config_schema":{"enum":["'; yes a | head -n 2000000 | tr -d '\n'; echo '"]}}'`},
		{name: "has a schema that refuses everything", verdict: noFit, exit: 1, says: `is not allowed here`, init: `echo '{"state_action":{"args":["state"]},"config_schema":false}'`},
		{name: "has a schema that branches without end", verdict: `given up after 200000 steps, or five seconds: "Invalid config"`, exit: 1, says: `takes too long to check`, most: 10 * time.Second,
			init: `printf '{"state_action":{"args":["state"]},"config_schema":{"$ref":"#/definitions/d0","definitions":{'
i=0; while [ $i -lt 40 ]; do n=$((i+1)); printf '"d%s":{"anyOf":[{"$ref":"#/definitions/d%s"},{"$ref":"#/definitions/d%s"}]},' $i $n $n; i=$n; done
echo '"d40":{"type":"string"}}}}'`},
		{name: "has a pattern that others choke on", verdict: "checked in no time", says: `will be adopted`, config: `{ a = "` + strings.Repeat("a", 60) + `!" }`,
			init: `echo '{"state_action":{"args":["state"]},"config_schema":{"properties":{"a":{"pattern":"^(a+)+!$"}}}}'`},
		{name: "asks for 5000 plugs", verdict: brokeProtocol, exit: 1, says: `at most 1000`,
			init: `printf '{"state_action":{"args":["state"]},"plugs":{'; i=0; while [ $i -lt 5000 ]; do printf '"p%s":{"container_path":"/p%s"},' $i $i; i=$((i+1)); done; echo '"x":{"container_path":"/x"}}}'`},
		plug("mounts a plug on its root", "/", brokeProtocol, `other than /`),
		plug("mounts a plug at a relative path", "etc", brokeProtocol, `absolute path`),
		plug("mounts a plug over proc", "/proc", brokeProtocol, `/proc`),
		plug("mounts a plug over a part of proc", "/x/../proc/sys/kernel", brokeProtocol, `/proc`),
		plug("mounts a plug over sys", "/sys/fs/cgroup", brokeProtocol, `/sys`),
		plug("mounts a plug over dev", "/dev/null", brokeProtocol, `/dev`),
		{name: "needs a plug that does not exist", verdict: `refused: "Missing plug"`, exit: 1, says: `nuclear`, init: `echo '{"state_action":{"args":["state"]},"plugs":{"nuclear":{"container_path":"/p"}}}'`},
		{name: "writes to a plug that is read-only", verdict: `refused, before it runs`, exit: 1, says: `sealed`, init: `echo '{"state_action":{"args":["state"]},"plugs":{"sealed":{"container_path":"/p"}}}'`},
		{name: "speaks a protocol of the future", verdict: brokeProtocol, exit: 1, says: `it uses protocol 99`, init: `echo '{"protocol":99,"state_action":{"args":["state"]}}'`},
		{name: "has no state action of its own", verdict: brokeProtocol, exit: 1, says: `must differ from init`, init: `echo '{"state_action":{}}'`},
		{name: "has a label that steers the terminal", verdict: "written out, as \\x1b", says: `\\x1b\[2Jlabel`, init: `printf '%s\n' '{"protocol":2,"label":"\u001b[2Jlabel","state_action":{"args":["state"]}}'`,
			state: `echo '{"status":"STALE","actions":[{"name":"a"}]}'`},
	}
}

// hostileKernel try what the sandbox forbids.
func hostileKernel() []hostile {
	return []hostile{
		{name: "calls what only the host may call", verdict: "each call fails: mount, umount, pivot_root, unshare, setns, bpf, keyctl, add_key, perf_event_open, userfaultfd, io_uring_setup, open_by_handle_at, init_module, kexec_load, reboot, swapon, acct, quotactl, syslog, settimeofday, sethostname, mknod, fsopen, ptrace of the first process, packet and raw sockets",
			says: `EPERM`, never: `"done"|= "?done`, state: `exec /probe calls`, after: allRefused},
		{name: "runs a setuid program", verdict: "it stays who it is", says: `uid = "?1000|"uid":"?1000`, settings: `user = "1000:1000"`, state: `echo '{"status":"VALID","state":{"uid":'$(/suid/busybox id -u)'}}'`},
		{name: "writes to the kernel's files", verdict: "refused: read-only, masked or not there", says: `EROFS`, never: `"done"|= "?done`,
			state: `exec /probe files /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/vm/panic_on_oom /sys/kernel/uevent_helper /proc/kcore /proc/irq/0/smp_affinity /sys/fs/cgroup/release_agent /sys/fs/cgroup/memory/release_agent /proc/1/oom_score_adj_none`},
		{name: "looks for secrets of the host", verdict: "sees its own processes and files only", says: `found = "?0|"found":"?0`, never: `[1-9]\d*"? *\}`,
			state: `n=0; for p in /proc/[0-9]*/environ; do tr '\0' '\n' <$p | grep -q DEPLOYSTER && n=$((n+1)); done; cd /proc/1; for d in /run/deployster /var/lib/deployster /run/containerd root/run/deployster; do [ -e $d ] && n=$((n+1)); done; echo '{"status":"VALID","state":{"found":'$n'}}'`},
		{name: "rewrites what it has printed", verdict: "impossible: its stdin, stdout and stderr are pipes, not the files that are read", says: `ESPIPE`, never: `done`, state: `exec /probe outputs`},
		{name: "opens its stdout again to shorten it", verdict: "what it printed stays printed", exit: 1, says: `more than one JSON value|something follows|It answered: first`, state: `echo first; : >/proc/self/fd/1; echo '{"status":"VALID","state":{}}' >/proc/self/fd/1`},
		{name: "reads its own answer", verdict: `it reads from a pipe, and waits: "The image took too long"`, exit: 1, says: `timed out after 1s`, settings: `timeouts {; state = "1s"; }`, state: `cat </proc/self/fd/1 >/dev/null`},
		{name: "mounts something and leaves it", verdict: "refused", says: `mounted = "?no|"mounted":"no`, state: `busybox mount -t tmpfs x /tmp 2>/dev/null && a=yes || a=no; echo '{"status":"VALID","state":{"mounted":"'$a'"}}'`},
		{name: "makes its own cgroup", verdict: "refused: there is no cgroup file system in the container", says: `made = "?no|"made":"no`, state: `a=no; find / -xdev -name 'cgroup.procs' 2>/dev/null | grep -q . && a=yes; busybox mkdir /sys/fs/cgroup/x 2>/dev/null && a=yes; echo '{"status":"VALID","state":{"made":"'$a'"}}'`},
	}
}

// allRefused checks that no call of the probe went through.
func allRefused(t *testing.T, c *hostileRun) {
	if n := strings.Count(c.stdout, "EPERM") + strings.Count(c.stdout, "ENOSYS") + strings.Count(c.stdout, "EACCES"); n < 25 {
		t.Errorf("only %d calls were refused", n)
	}
}

// hostileFiles use files of the image as doors.
func hostileFiles() []hostile {
	door := func(name, image, path, verdict string, after func(*testing.T, *hostileRun)) hostile {
		return hostile{name: name, image: image, verdict: verdict, says: `will be adopted|did not start|could not be run`, after: after, exit: -1,
			init: `echo '{"state_action":{"args":["state"]},"plugs":{"world":{"container_path":"` + path + `"}}}'`, state: `touch ` + path + `/here; echo '{"status":"VALID","state":{}}'`}
	}
	inWorldOnly := func(t *testing.T, c *hostileRun) {
		for _, path := range []string{"/etc/here", "/hostile-outside", "/tmp/hostile-outside"} {
			if exists(path) {
				t.Errorf("%s was made on this host", path)
			}
		}
	}
	list := []hostile{
		door("has a link to the host's etc where a plug goes", "test/links:1", "/link", "the link leads to the image's own etc", inWorldOnly),
		door("has a link with many steps up where a plug goes", "test/links:1", "/up/hostile-outside", "it ends at the image's own root", inWorldOnly),
		door("has a link through proc where a plug goes", "test/links:1", "/self/hostile-outside", "the container does not start, or stays in its own files", inWorldOnly),
	}
	for i := range list {
		list[i].exit = 0
	}
	list[2].exit = 1
	return list
}

// hostileImages are wrong before they even run.
func hostileImages() []hostile {
	return []hostile{
		{name: "has an entrypoint that does not exist", image: "test/noentry:1", verdict: `refused: "The container could not be run", with the reason`, exit: 1, says: `/nowhere`},
		{name: "has an entrypoint that cannot be run", image: "test/notexec:1", verdict: `refused: "The container could not be run", with the reason`, exit: 1, says: `permission denied`},
		{name: "has an entrypoint that is no program", image: "test/garbage:1", verdict: `refused: "The image refused", with the reason`, exit: 1, says: `exec format error`},
		{name: "has no entrypoint", image: "test/empty:1", verdict: `refused: "The container could not be run", with the reason`, exit: 1, says: `neither an Entrypoint nor a Cmd`},
		{name: "is for another processor", image: "test/alien:1", verdict: `refused when it is imported`, exit: 1, says: `test/alien`},
		{name: "has a config of another digest", image: "test/liar:1", verdict: `refused when it is imported`, exit: 1, says: `test/liar`},
		{name: "has a layer of another digest", image: "test/layerliar:1", verdict: `refused when it is imported`, exit: 1, says: `test/layerliar`},
		{name: "has 120 layers", image: "test/layers:1", verdict: "runs", says: `will be adopted`},
		{name: "has an environment of a megabyte", image: "test/bigenv:1", verdict: `refused: "The image refused", with the reason`, exit: 1, says: `argument list too long`},
		{name: "has labels of a megabyte", image: "test/biglabels:1", verdict: "runs; no label of an image is ever taken over", says: `will be adopted`},
		{name: "works in a directory of proc", image: "test/procdir:1", verdict: `refused when it is imported, CVE-2024-21626`, exit: 1, says: `test/procdir`},
		{name: "has a dev that leads elsewhere", image: "test/dev:1", verdict: `runs, and its devices are its own, CVE-2026-41579`, says: `will be adopted`, after: noDevicesOutside},
		{name: "runs the program that runs it", image: "test/runc:1", verdict: "it gets a copy that it cannot change, CVE-2019-5736", exit: 1, says: `Error`, after: runcIsUnchanged},
	}
}

// runcIsUnchanged checks that the runc which runs containers still works.
func runcIsUnchanged(t *testing.T, c *hostileRun) {
	runc := safeRunc(".")
	if runc == "" {
		runc = "runc"
	}
	if out, err := exec.Command(runc, "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "runc version") {
		t.Errorf("runc was changed: %v, %s", err, out)
	}
}

// noDevicesOutside checks that no device was made where the image's /dev led.
func noDevicesOutside(t *testing.T, c *hostileRun) {
	for _, path := range []string{"/etc/null", "/etc/pts", "/etc/shm"} {
		if exists(path) {
			t.Errorf("%s was made on this host", path)
		}
	}
}

// packOthers makes the images of hostileFiles and hostileImages from the usual
// one's files.
func (l *hostileLab) packOthers(t *testing.T, image string) {
	t.Helper()
	links := filepath.Join(l.root, "links")
	if out, err := exec.Command("cp", "-a", image, links).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, target := range map[string]string{"link": "/etc", "up": "../../../../../../../..", "self": "/proc/1/cwd"} {
		if err := os.Symlink(target, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.must(t, "image", "pack", "-t", "test/links:1", "-entrypoint", "/type", links)
	writeFiles(t, image, map[string]string{"data": "no program", "garbage": "\x00\x01\x02 no program"})
	if err := os.Chmod(filepath.Join(image, "data"), 0o644); err != nil {
		t.Fatal(err)
	}
	l.importCrafted(t, image)
}

// craft is an image as a registry or an archive could have it.
type craft struct {
	name         string
	config       map[string]any // of the container
	architecture string
	layers       int
	symlink      [2]string
	lie          string // "config" or "layer": its content is not what its digest says
}

func (l *hostileLab) importCrafted(t *testing.T, image string) {
	t.Helper()
	base := tarDir(t, image)
	env := []string{"BIG=" + strings.Repeat("x", 1<<20)}
	labels := map[string]string{"containerd.io/restart.status": "running", "big": strings.Repeat("x", 1<<20)}
	for _, c := range []craft{
		{name: "noentry", config: entrypoint("/nowhere")}, {name: "notexec", config: entrypoint("/data")}, {name: "garbage", config: entrypoint("/garbage")},
		{name: "empty", config: entrypoint()}, {name: "runc", config: entrypoint("/proc/self/exe")},
		{name: "alien", architecture: "s390x"}, {name: "liar", lie: "config"}, {name: "layerliar", lie: "layer"},
		{name: "layers", layers: 119}, {name: "bigenv", config: map[string]any{"Env": env}}, {name: "biglabels", config: map[string]any{"Labels": labels}},
		{name: "procdir", config: map[string]any{"WorkingDir": "/proc/self/fd/7"}}, {name: "dev", symlink: [2]string{"dev", "/etc"}},
	} {
		file := filepath.Join(l.root, c.name+".tar")
		if err := os.WriteFile(file, c.archive(t, base), 0o644); err != nil {
			t.Fatal(err)
		}
		// Some are refused here already, which their cases see.
		out, err := l.command(t.Context(), l.root, "image", "import", file).CombinedOutput()
		refused := c.architecture != "" || c.lie != "" || c.name == "procdir"
		if (err != nil) != refused || strings.Contains(string(out), "panic") {
			t.Errorf("importing %s: %v\n%s", c.name, err, out)
		}
	}
}

func entrypoint(words ...string) map[string]any { return map[string]any{"Entrypoint": words} }

func tarDir(t *testing.T, dir string) []byte {
	t.Helper()
	out, err := tarOf(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// archive gives what docker would save.
func (c craft) archive(t *testing.T, base []byte) []byte {
	t.Helper()
	layers := [][]byte{base}
	for i := range c.layers {
		layers = append(layers, oneFile(t, &tar.Header{Name: fmt.Sprintf("layer%d", i), Mode: 0o644, Size: 1}, "x"))
	}
	if c.symlink[0] != "" {
		layers = append(layers, oneFile(t, &tar.Header{Name: c.symlink[0], Linkname: c.symlink[1], Typeflag: tar.TypeSymlink, Mode: 0o777}, ""))
	}
	config := map[string]any{"Entrypoint": []string{"/type"}}
	for k, v := range c.config {
		config[k] = v
	}
	arch := c.architecture
	if arch == "" {
		arch = "amd64"
	}
	if c.lie == "layer" {
		// One that no other image has, and that is therefore not here yet.
		base = oneFile(t, &tar.Header{Name: "own", Mode: 0o644, Size: 5}, "VALID")
		layers = append(layers, base)
	}
	var diffs []string
	for _, layer := range layers {
		diffs = append(diffs, digestOf(layer))
	}
	describe := func(kind string, b []byte) map[string]any {
		return map[string]any{"mediaType": "application/vnd.oci.image." + kind, "digest": digestOf(b), "size": len(b)}
	}
	configJSON := mustJSON(t, map[string]any{"os": "linux", "architecture": arch, "config": config, "rootfs": map[string]any{"type": "layers", "diff_ids": diffs}})
	var list []any
	blobs := map[string][]byte{digestOf(configJSON): configJSON}
	for _, layer := range layers {
		list = append(list, describe("layer.v1.tar", layer))
		blobs[digestOf(layer)] = layer
	}
	manifest := mustJSON(t, map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": describe("config.v1+json", configJSON), "layers": list})
	blobs[digestOf(manifest)] = manifest
	switch c.lie {
	case "config":
		blobs[digestOf(configJSON)] = bytes.Replace(configJSON, []byte("/type"), []byte("/evil"), 1)
	case "layer":
		blobs[digestOf(base)] = bytes.Replace(base, []byte("VALID"), []byte("EVIL!"), 1)
	}
	top := describe("manifest.v1+json", manifest)
	top["annotations"] = map[string]string{"org.opencontainers.image.ref.name": "test/" + c.name + ":1"}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(name string, content []byte) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content) // a buffer never fails
	}
	add("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	add("index.json", mustJSON(t, map[string]any{"schemaVersion": 2, "manifests": []any{top}}))
	for digest, b := range blobs {
		add("blobs/sha256/"+strings.TrimPrefix(digest, "sha256:"), b)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func oneFile(t *testing.T, h *tar.Header, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(content)) // a buffer never fails
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
