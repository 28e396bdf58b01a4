package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"

	"deployster/internal/runtime/runner"
)

// Exec starts a program in a container of a Pod, and returns its stdin and stdout as a stream. The
// program's stderr becomes part of the error with which the stream ends. Closing the stream ends
// the connection. It uses a WebSocket, and SPDY where the server or a proxy refuses the WebSocket.
func (c *Client) Exec(ctx context.Context, pod, container string, command ...string) (io.ReadWriteCloser, error) {
	o := &core.PodExecOptions{Container: container, Command: command, Stdin: true, Stdout: true, Stderr: true}
	url := c.core.Post().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(o, c.params).URL()
	socket, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, url.String())
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, url)
	if err != nil {
		return nil, err
	}
	either, err := remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return nil, err
	}
	s := &stream{}
	ctx, s.cancel = context.WithCancel(ctx)
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	s.Reader, s.Writer, s.in, s.out = out, in, in, out
	stderr := runner.NewLog(4 << 10)
	go func() {
		err := c.Plugin.explain(either.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: stderr}))
		s.cancel()
		text := strings.TrimSpace(string(stderr.Bytes()))
		switch {
		case err != nil && text != "":
			err = fmt.Errorf("%w: %s", err, text)
		case text != "":
			err = errors.New(text)
		case err == nil:
			err = io.EOF
		}
		_ = stdout.CloseWithError(err) // never fails
		_ = stdin.CloseWithError(err)  // never fails
	}()
	return s, nil
}

// stream is the stdin and stdout of a program.
type stream struct {
	io.Reader
	io.Writer
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	once   sync.Once
}

// Close ends the connection.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.in.Close()  // never fails
		_ = s.out.Close() // never fails
		s.cancel()
	})
	return nil
}
