package containers

import (
	"errors"
	"strings"
	"testing"

	"deployster/protocol"
)

func TestContainer_SpecIsOfAllThatItIsMadeOf(t *testing.T) {
	t.Parallel()
	c := Config{Name: "web", Image: "registry/web:1", Command: []string{"run", "50% $HOME"}, Env: map[string]string{"A": "secret"},
		Ports: []string{"8080:80"}, Volumes: []string{"/srv/a b:/data:ro"}, Restart: "always"}
	text := c.unit("docker", "abc")
	for _, part := range []string{"After=network-online.target docker.service\nRequires=docker.service\n", `"50%% $$HOME"`, `"--volume" "/srv/a b:/data:ro"`,
		`"abc" "run"`, `"--env-file" "/etc/deployster-containers/web.env"`, "Restart=always"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("the service, which all may read, has the environment")
	}
	if c.unit("docker", "abc") != text || c.unit("docker", "def") == text || c.unit("podman", "abc") == text {
		t.Error("the unit does not follow the image and the engine")
	}
	d := c
	if d.Env = map[string]string{"A": "other"}; d.unit("docker", "abc") == text {
		t.Error("the unit does not follow the environment")
	}
}

func TestContainer_WhatEnginesMisreadIsRefused(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"/ports/0":   {Ports: []string{"80:"}},
		"/ports/1":   {Ports: []string{"[::1]:80:80", "x"}},
		"/volumes/0": {Volumes: []string{"data"}},
		"/volumes/1": {Volumes: []string{"data:/x", "/a:b"}},
		"/env":       {Env: map[string]string{"A B": "x"}},
		"/env/A":     {Env: map[string]string{"A": "x\ny"}},
	} {
		err := check(&call{Config: c})
		if failure, ok := errors.AsType[*protocol.TypeError](err); !ok || failure.Path != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := check(&call{Config: Config{Ports: []string{"80", "127.0.0.1:8000-8010:80-90/udp"}, Volumes: []string{"data:/x", "/a:/b:ro,Z"}}}); err != nil {
		t.Error(err)
	}
}
