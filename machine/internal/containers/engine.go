package containers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/systemd"
)

const nerdctl = "nerdctl"

// engines are what can run containers, and the services that they need.
var engines = []struct{ name, service string }{{"podman", ""}, {"docker", "docker.service"}, {nerdctl, "containerd.service"}}

// engine is what runs containers on the machine.
type engine struct {
	machine *access.Machine
	name    string
}

// engine returns the one of the config, or else the first that the machine has; nil = it has none.
func (k Container) engine(ctx context.Context, name string) (*engine, error) {
	for _, one := range engines {
		if name != "" && name != one.name {
			continue
		}
		e := &engine{k.machine, one.name}
		switch err := e.run(ctx, io.Discard, "--version"); {
		case err == nil:
			return e, nil
		case !errors.Is(err, exec.ErrNotFound):
			return nil, err
		}
	}
	return nil, nil
}

// missing is the text for a machine without an engine.
func missing(name string) string {
	if name != "" {
		return "this machine does not have " + name
	}
	return "this machine has neither podman, docker nor nerdctl"
}

func (e *engine) run(ctx context.Context, out io.Writer, args ...string) error {
	return e.machine.Run(ctx, access.Command{Args: append([]string{e.name}, args...), Stdout: out,
		Description: e.name + " " + strings.Join(args, " ")})
}

// inspect returns what the engine has under a name; nil = nothing.
func (e *engine) inspect(ctx context.Context, what, name string) (map[string]any, error) {
	var out, log bytes.Buffer
	err := e.machine.Run(ctx, access.Command{Args: []string{e.name, what, "inspect", name}, Stdout: &out, Stderr: &log,
		Description: e.name + " " + what + " inspect " + name})
	if exit, ok := errors.AsType[*access.ExitError](err); ok && exit.Code > 0 {
		if text := strings.ToLower(log.String()); strings.Contains(text, "no such") || strings.Contains(text, "not found") ||
			strings.Contains(text, "not known") {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(log.String()))
	}
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		return nil, fmt.Errorf("what %s prints of %s cannot be read: %w", e.name, name, err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list[0], nil
}

// specLabel is the label that has of what a container was made.
const specLabel = "deployster.spec"

// container returns what is known of a container.
func (e *engine) container(ctx context.Context, name string) (there, running bool, spec string, err error) {
	one, err := e.inspect(ctx, "container", name)
	if one == nil || err != nil {
		return false, false, "", err
	}
	state, _ := one["State"].(map[string]any)
	config, _ := one["Config"].(map[string]any)
	labels, _ := config["Labels"].(map[string]any)
	running, _ = state["Running"].(bool)
	if status, ok := state["Status"].(string); ok && status == "running" {
		running = true
	}
	spec, _ = labels[specLabel].(string)
	return true, running, spec, nil
}

// image returns the id of an image; "" = the machine does not have it.
func (e *engine) image(ctx context.Context, name string) (string, error) {
	one, err := e.inspect(ctx, "image", name)
	if one == nil || err != nil {
		return "", err
	}
	id, _ := one["Id"].(string)
	if e.name == nerdctl {
		id = manifest(one)
	}
	if id == "" {
		return "", fmt.Errorf("%s does not print the id of the image %s", e.name, name)
	}
	return strings.TrimPrefix(id, "sha256:"), nil
}

// manifest returns the digest of an image's manifest: nerdctl runs an image by that, and by no other id.
func manifest(image map[string]any) string {
	list, _ := image["RepoDigests"].([]any)
	for _, one := range list {
		if text, ok := one.(string); ok {
			_, digest, _ := strings.Cut(text, "@")
			return digest
		}
	}
	return ""
}

const envDirectory = "/etc/deployster-containers"

func (c Config) unitName() string { return "container-" + c.Name + ".service" }

func (c Config) envPath() string { return envDirectory + "/" + c.Name + ".env" }

func (c Config) envText() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(&b, "%s=%s\n", name, c.Env[name])
	}
	return b.String()
}

// spec is a checksum of what a container is made of.
func (c Config) spec(engine, image string) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q %q", c.service(engine, image, ""), c.envText(), image)
	return hex.EncodeToString(sum.Sum(nil))
}

// unit returns the service, which has the checksum of what the container is made of.
func (c Config) unit(engine, image string) string {
	return c.service(engine, image, c.spec(engine, image))
}

func (c Config) service(engine, image, spec string) string {
	run := []string{engine, "run", "--rm", "--name", c.Name, "--label", specLabel + "=" + spec, "--env-file", c.envPath()}
	for _, p := range c.Ports {
		run = append(run, "--publish", p)
	}
	if c.Network != "" {
		run = append(run, "--network", c.Network)
	}
	for _, v := range c.Volumes {
		run = append(run, "--volume", v)
	}
	run = append(append(run, image), c.Command...)
	after := "network-online.target"
	for _, one := range engines {
		if one.name == engine && one.service != "" {
			after += " " + one.service + "\nRequires=" + one.service
		}
	}
	return fmt.Sprintf(`[Unit]
Description=Container %s of %s
Requires=network-online.target
After=%s

[Service]
ExecStartPre=-%s
ExecStart=%s
ExecStop=-%s
ExecStopPost=-%s
Restart=%s
RestartSec=1
TimeoutStopSec=40

[Install]
WantedBy=multi-user.target
`, c.Name, strings.ReplaceAll(c.Image, "%", "%%"), after, systemd.Words([]string{engine, "rm", "-f", c.Name}), systemd.Words(run),
		systemd.Words([]string{engine, "stop", "-t", "30", c.Name}), systemd.Words([]string{engine, "rm", "-f", c.Name}), c.Restart)
}
