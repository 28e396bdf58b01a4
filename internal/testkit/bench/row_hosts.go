package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/services"
)

// manyHosts declares hosts that are data directories of this machine, with resources of
// a worker type on each.
const manyHosts = `host "web" {
  for_each      = toset([for i in range(%d) : tostring(i)])
  address       = "127.0.0.1"
  user          = "root"
  port          = %s
  identity_file = "%s/id"
  host_key      = %q
  data_dir      = "%s/${each.key}"
}
plug "world" { path = "%s" }
resource "disk" {
  for_each = { for pair in setproduct(range(%d), range(%d)) : "${pair[0]}-${pair[1]}" => tostring(pair[0]) }
  host     = host.web[each.value]
  type     = "bench/disk:1"
  config   = { name = "disk-${each.key}", zone = "eu" }
}
`

// sshdConfig is that of the sshd of the hosts. They have an empty home: a shell reads the .bashrc
// there when sshd starts it, and root's may take longer than all else. The key exchange that
// OpenSSH prefers takes most of a login, at both ends, on the processors of this one machine.
const sshdConfig = `ListenAddress 127.0.0.1:%s
HostKey %[2]s/hostkey
PidFile none
AuthorizedKeysFile %[2]s/id.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 500:30:1000
UseDNS no
KexAlgorithms curve25519-sha256
LogLevel ERROR
SetEnv DEPLOYSTER_IDLE_EXIT=1h HOME=%[2]s/home
`

// hostsRow is an apply and a plan of resources on many hosts, each with a containerd of
// its own, behind a real sshd on loopback. A twentieth of the hosts have nothing of
// deployster's before, the others its program.
func hostsRow(ctx context.Context, l *lab) (lines []line, err error) {
	const each = 50
	hosts := l.sized(200)
	if err = meter.EnoughThreads(hosts * 35); err != nil { // of ssh and sshd, far end, containerd, shims and containers
		return nil, err
	}
	b, err := l.workers(ctx, 0)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	stop, err := b.hosts(hosts, each)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	bare := max(1, hosts/20)
	if err := b.install(ctx, hosts-bare); err != nil {
		return nil, err
	}
	first := line{What: fmt.Sprintf("first `apply` on %d hosts, %d resources each: installs on %d, boots, ships, makes", hosts, each, bare),
		Goal: goal{Wall: 5 * time.Minute}, Note: "the memory of containerd is that of all hosts and of this machine"}
	u, err := b.ours(ctx, nil, "apply", "-auto-approve").run()
	if err != nil {
		return nil, err
	}
	first.Ours = []meter.Usage{u}
	again := line{What: fmt.Sprintf("`plan` without changes on %d hosts, %d resources each", hosts, each), Goal: goal{Wall: time.Minute}}
	for range l.pairs {
		if u, err = b.ours(ctx, nil, "plan").run(); err != nil {
			return []line{first}, err
		}
		again.Ours = append(again.Ours, u)
	}
	return []line{first, again}, nil
}

// hosts starts an sshd and declares hosts behind it; stop ends the sshd.
func (b *bed) hosts(n, each int) (stop func() error, err error) {
	keys := filepath.Join(b.data, "ssh")
	// Debian's sshd wants the second.
	if err := errors.Join(os.MkdirAll(filepath.Join(keys, "home"), 0o700), os.MkdirAll("/run/sshd", 0o755)); err != nil {
		return nil, err
	}
	for _, name := range []string{"id", "hostkey"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, name)).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	port, err := services.FreePort()
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(keys, "hostkey.pub"))
	if err != nil {
		return nil, err
	}
	hosts := filepath.Join(b.data, "hosts")
	main := fmt.Sprintf(manyHosts, n, port, keys, key, hosts, filepath.Join(b.work, "world"), n, each)
	config := filepath.Join(keys, "config")
	if err := errors.Join(b.write(map[string][]byte{"world.hcl": []byte(main)}), os.Mkdir(hosts, 0o755),
		os.WriteFile(config, fmt.Appendf(nil, sshdConfig, port, keys), 0o600)); err != nil {
		return nil, err
	}
	// Hosts have processors of their own: they take none from the command.
	sshd := exec.Command("nice", "-n", "19", "/usr/sbin/sshd", "-D", "-e", "-f", config)
	if err := sshd.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		err := sshd.Process.Signal(syscall.SIGTERM)
		_ = sshd.Wait() // it was ended
		return err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return stop, c.Close()
		}
		if time.Now().After(end) {
			return nil, errors.Join(err, stop())
		}
	}
}

// install has the program on the first of the hosts, as if another command had installed
// it. The files are the same for all.
func (b *bed) install(ctx context.Context, hosts int) error {
	if hosts == 0 {
		return nil
	}
	if err := b.do(ctx, "host", "check", `web["0"]`); err != nil {
		return err
	}
	all := filepath.Join(b.data, "hosts")
	files, err := filepath.Glob(filepath.Join(all, "0", "far", "*", "*"))
	if err == nil && len(files) == 0 {
		err = errors.New("nothing was installed on the first host")
	}
	for _, file := range files {
		inside, rerr := filepath.Rel(filepath.Join(all, "0"), file)
		err = errors.Join(err, rerr)
		for i := 1; i < hosts; i++ {
			to := filepath.Join(all, strconv.Itoa(i), inside)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.Link(file, to))
		}
	}
	return err
}
