package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"

	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// launchCat launches a program that repeats its input, and waits for its first line.
func launchCat(t *testing.T, c *Client) (runner.Process, *bufio.Reader) {
	t.Helper()
	i, err := c.Resolve(t.Context(), runnertest.ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Launch(t.Context(), runner.Spec{Name: "cat", Kind: runner.Query, Digest: i.Digest, Args: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin(), "one\n"); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Stdout())
	if line, err := out.ReadString('\n'); line != "one\n" {
		t.Fatalf("got the line %q, %v", line, err)
	}
	return p, out
}

func TestLaunch_EndsWithItsConnection(t *testing.T) {
	t.Parallel()
	c, stream, served := connect(t, newPlace(), Hello{Build: "b1"}, quick())
	p, out := launchCat(t, c)
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if _, err := p.Wait(); len(rest) > 0 || !isLostError(err) {
		t.Errorf("got %q and the error %v, want a lost connection", rest, err)
	}
	if _, err := io.WriteString(p.Stdin(), "two\n"); err == nil {
		t.Error("a program that has ended accepts input")
	}
	if err := <-served; err == nil {
		t.Error("the host does not report the lost connection")
	}
}

func isLostError(err error) bool {
	var lost *LostError
	return errors.As(err, &lost)
}

func TestLaunch_RefusesActions(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t, newPlace(), Hello{Build: "b1"}, quick())
	if _, err := c.Launch(t.Context(), runner.Spec{Name: "act", Kind: runner.Action}); err == nil {
		t.Error("an action is launched")
	}
	// A client of another build could send one.
	var end ending
	err := c.call(context.Background(), kindLaunch, newRunRequest(runner.Spec{Name: "act", Kind: runner.Action}), watchers{},
		func(_ uint32, m frame.Message) (err error) {
			end, err = decode[ending](m)
			return err
		})
	if err != nil || end.Error == nil {
		t.Errorf("the host answers %+v, %v to an action", end, err)
	}
}

func TestLaunch_CancelledBeforeTheStart(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t, newPlace(), Hello{Build: "b1"}, quick())
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no longer needed")
	cancel(why)
	if _, err := c.Launch(ctx, runner.Spec{Name: "late", Kind: runner.Query}); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}
