package place

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fakeapi"
)

// Nothing secret is in a request to the API server, nor in the status of a Pod: it goes by exec alone.
func TestSecrets_GoByExecAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var got []string
	c.fake.Add("registry.example/reader:1", func(_ context.Context, s runner.Spec, in io.Reader, out, errs io.Writer) int {
		stdin, _ := io.ReadAll(in)
		got = []string{string(stdin), s.Settings.Env["PASSWORD"] + s.SecretEnv["PASSWORD"], strings.Join(s.Args, " ")}
		_, _ = io.WriteString(out, "canary-answer")
		_, _ = io.WriteString(errs, "canary-log")
		return 7
	})
	image, err := c.fake.Resolve(t.Context(), "registry.example/reader:1")
	if err != nil {
		t.Fatal(err)
	}
	canaries := []string{"canary-stdin", "canary-env", "canary-arg", "canary-answer", "canary-log"}
	cl := c.client(t, acts(1))
	statuses := ""
	for _, kind := range []runner.Kind{runner.Query, runner.Action} {
		for _, shared := range []string{"", "shared", "confidential"} {
			s := runner.Spec{Name: "main/create", Kind: kind, Digest: image.Digest, Args: []string{"canary-arg"},
				Stdin: []byte("canary-stdin"), ID: fmt.Sprint(kind, shared), Reuse: shared == "shared", Timeout: time.Minute}
			s.Settings.Env = map[string]string{"PASSWORD": "canary-env"}
			if shared == "confidential" { // as with values of secret blocks
				s.Confidential, s.Secrets, s.SecretEnv, s.Settings.Env = true, canaries, s.Settings.Env, nil
			}
			s.Ended = func(runner.Result, error) error {
				for _, p := range c.Pods() {
					statuses += fmt.Sprintf("%+v", p)
				}
				return nil
			}
			res, err := cl.Run(t.Context(), s)
			if err != nil || string(res.Stdout) != "canary-answer" || strings.Join(got, ",") != "canary-stdin,canary-env,canary-arg" {
				t.Errorf("%+v, %v, %q", res, err, got)
			}
		}
	}
	sent := c.Sent() + statuses
	if !strings.Contains(sent, "main/create") {
		t.Fatal("the requests are not seen")
	}
	for _, canary := range canaries {
		for _, text := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))} {
			if at := strings.Index(sent, text); at >= 0 {
				t.Errorf("%s is in %q", canary, sent[max(at-200, 0):at+40])
			}
		}
	}
}

// Answers that are lost, watches that end, repeat or are too old, and a slow server change nothing.
func TestRun_StandsFaultsOfTheServer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(fakeapi.Request, int) fakeapi.Fault{
		"lost answers": func(q fakeapi.Request, n int) fakeapi.Fault {
			return fakeapi.Fault{Lost: q.Verb != "exec" && n%3 == 0}
		},
		"dropped requests": func(q fakeapi.Request, n int) fakeapi.Fault { return fakeapi.Fault{Drop: n%4 == 1} },
		"delays": func(_ fakeapi.Request, n int) fakeapi.Fault {
			return fakeapi.Fault{Delay: time.Duration(n%4) * 5 * time.Millisecond}
		},
		"no watch": func(q fakeapi.Request, _ int) fakeapi.Fault { return fakeapi.Fault{Drop: q.Verb == "watch"} },
		"errors": func(_ fakeapi.Request, n int) fakeapi.Fault {
			if n%3 != 2 {
				return fakeapi.Fault{}
			}
			return fakeapi.Fault{Err: apierrors.NewServiceUnavailable("etcd has no leader")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, m := newCluster(t), &made{}
			c.fake.Add(maker, m.program)
			count := make(chan int, 1)
			count <- 0
			c.Set(func(b *fakeapi.Behaviour) {
				b.Fault = func(q fakeapi.Request) fakeapi.Fault {
					n := <-count
					count <- n + 1
					return fault(q, n)
				}
			})
			image, err := c.fake.Resolve(t.Context(), maker)
			if err != nil {
				t.Fatal(err)
			}
			cl := c.client(t, acts(1))
			for i := range 3 {
				s := action(t, c, fmt.Sprint(i))
				s.Digest, s.Args = image.Digest, nil
				if res, err := cl.Run(t.Context(), s); err != nil || res.ExitCode != 0 {
					t.Errorf("%+v, %v", res, err)
				}
			}
			if n := m.begun.Load(); n != 3 {
				t.Errorf("3 actions were begun %d times", n)
			}
		})
	}
}

// A watch whose version is too old begins again with a list, also while somebody waits.
func TestWatch_BeginsAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			r.Waiting("type", "ContainerCreating", "")
			c.Compact()
			r.Status(func(p *core.Pod) { p.Status.Message = "repeated" })
			c.Compact()
			r.Start(c.newAgent())
		}
	})
	cl := c.client(t, acts(1))
	for i := range 3 {
		if _, err := cl.Run(t.Context(), action(t, c, fmt.Sprint(i), "exit", "0")); err != nil {
			t.Error(err)
		}
	}
}
