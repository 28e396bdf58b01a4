package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// idle is how long a server may send nothing.
const idle = 60 * time.Second

// fetch opens what is at an URL. A server that stops sending ends the reader with an error.
func fetch(ctx context.Context, url string) (io.ReadCloser, error) {
	ctx, stop := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idle, func() { stop(fmt.Errorf("%s has sent nothing for %s", url, idle)) })
	b := &body{ctx: ctx, stop: stop, timer: timer}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, errors.Join(fmt.Errorf("%s cannot be fetched: %w", url, err), b.Close())
	}
	b.from = answer.Body
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s cannot be fetched: the server answers %s", url, answer.Status), b.Close())
	}
	return b, nil
}

// body is what a server sends.
type body struct {
	ctx   context.Context
	stop  context.CancelCauseFunc
	timer *time.Timer
	from  io.ReadCloser
}

func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(idle)
	n, err := b.from.Read(p)
	if cause := context.Cause(b.ctx); err != nil && !errors.Is(err, io.EOF) && cause != nil {
		err = cause
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.stop(nil)
	if b.from == nil {
		return nil
	}
	return b.from.Close()
}

// verified is a reader that ends with an error, if what it has read has not the checksum.
type verified struct {
	from   io.Reader
	origin string
	want   string
	sum    hash.Hash
}

func verify(from io.Reader, origin, want string) *verified {
	return &verified{from, origin, want, sha256.New()}
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.from.Read(p)
	v.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(v.sum.Sum(nil)); got != v.want {
			return n, fmt.Errorf("%s has the sha256 %s, and the config declares %s: nothing was changed", v.origin, got, v.want)
		}
	}
	return n, err
}

// sumOf returns the checksum of a file of this process.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// plugs is where the files of plugs and artifacts are in the container.
const plugs = protocol.PlugsDir

// located returns where a source is for this process: below /plugs/ in the container, else on the machine.
func located(m *access.Machine, source string) string {
	if strings.HasPrefix(source, plugs) {
		return m.FromContainer(source)
	}
	return m.Path(source)
}

// opened opens what a config names by an URL, or by a file.
func opened(ctx context.Context, m *access.Machine, url, source string) (from io.ReadCloser, origin string, err error) {
	if source != "" {
		file, err := os.Open(located(m, source))
		return file, source, err
	}
	from, err = fetch(ctx, url)
	return from, url, err
}
