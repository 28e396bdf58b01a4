// Command deployster-terraform makes a resource type of a Terraform provider: it
// implements deployster's protocol, and calls the provider by plugin protocol 5 or 6. In
// an image it is next to the provider.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"deployster/bridge/internal/resource"
	"deployster/protocol"
)

// providerPath is the path of the provider in its image.
const providerPath = "/provider"

func main() {
	p := &resource.Providers{Path: providerPath, Plugs: os.Getenv("DEPLOYSTER_TF_PLUGS")}
	if path := os.Getenv("DEPLOYSTER_TF_PROVIDER"); path != "" { // to run it by hand
		p.Path = path
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		p.Thrown = resource.ThrownAway(string(mounts))
	}
	var err error
	if p.Parallel, err = parallelism(os.Getenv); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	protocol.ServeFunc(bridge{p}.answer, p.Close)
}

// parallelism returns how many resources a process of the provider handles at a time; 0 =
// not set.
func parallelism(getenv func(string) string) (int, error) {
	const name = "DEPLOYSTER_TF_PARALLELISM"
	text := getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q, and must be a number from 1 on", name, text)
	}
	return n, nil
}

// bridge answers invocations.
type bridge struct{ providers *resource.Providers }

// answer carries out one invocation, and returns its exit code.
func (b bridge) answer(ctx context.Context, p protocol.Process) int {
	err := b.step(ctx, p)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		_, _ = fmt.Fprintf(p.Stderr, "ended on request (%s)\n", err)
		return 143
	}
	_, _ = fmt.Fprintln(p.Stderr, err)
	return 1
}

func (b bridge) step(ctx context.Context, p protocol.Process) error {
	stdin, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(stdin)) == 0 {
		return errors.New("there is nothing on stdin: this program is a resource type, and is run by deployster")
	}
	var in protocol.ActionInput
	if err := json.Unmarshal(stdin, &in); err != nil {
		return fmt.Errorf("stdin is not what deployster sends: %w", err)
	}
	var answer any
	switch {
	case len(p.Args) == 0:
		var secret bool
		if answer, secret, err = b.providers.InitSecret(ctx, in.InitInput); err == nil && !secret {
			answer, err = b.providers.Init(ctx, in.InitInput)
		}
	case p.Args[0] == "secret":
		var secret resource.SecretInput
		if err := json.Unmarshal(stdin, &secret); err != nil {
			return fmt.Errorf("stdin is not what deployster sends: %w", err)
		}
		answer, err = b.providers.Secret(ctx, secret, p.Stderr)
	case p.Args[0] == "state":
		answer, err = b.state(ctx, in.StateInput, p.Stderr)
	default:
		digest := ""
		if len(p.Args) > 1 {
			digest = p.Args[1]
		}
		var memory json.RawMessage
		if memory, err = b.providers.Act(ctx, in, p.Args[0], digest, p.Stderr); memory == nil {
			return err // what it has made is unknown
		}
		return errors.Join(err, write(p.Stdout, protocol.ActionAnswer{Memory: memory}))
	}
	if err != nil {
		return err
	}
	return write(p.Stdout, answer)
}

// state returns a protocol.TypeError inside the answer, and only other failures as an error.
func (b bridge) state(ctx context.Context, in protocol.StateInput, log io.Writer) (protocol.StateAnswer, error) {
	answer, err := b.providers.State(ctx, in, log)
	var failure *protocol.TypeError
	if errors.As(err, &failure) {
		return protocol.StateAnswer{Error: failure}, nil
	}
	return answer, err
}

func write(to io.Writer, answer any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return err
	}
	_, err := to.Write(b.Bytes())
	return err
}
