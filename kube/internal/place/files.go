package place

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
)

// archive is the archive of the files of an artifact, in a file without a name: it ends with this process.
type archive struct {
	podspec.Files
	file *os.File
	size int64 // of the archive
}

// Bring implements remote.Place. It keeps the archive for the Pods that need the files.
func (p *Place) Bring(_ context.Context, f remote.Files, from io.Reader) error {
	p.mu.Lock()
	held := p.files[f.Key]
	p.mu.Unlock()
	if held != nil && held.Tree == f.Tree {
		return nil
	}
	got, err := keep(f, from)
	if err != nil {
		return fmt.Errorf("the files of %s cannot be kept: %w", f.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[f.Key] = got
	return nil
}

// keep writes an archive into a file without a name.
func keep(f remote.Files, from io.Reader) (*archive, error) {
	file, err := os.CreateTemp("", "deployster-files-*")
	if err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	got := &archive{Files: podspec.Files{Name: f.Name, Tree: f.Tree}, file: file}
	all := io.TeeReader(from, file)
	for entries := tar.NewReader(all); err == nil; {
		var h *tar.Header
		if h, err = entries.Next(); err == nil {
			got.Size += h.Size
		}
	}
	if errors.Is(err, io.EOF) {
		_, err = io.Copy(io.Discard, all) // what follows the last entry
	}
	if err == nil {
		got.size, err = file.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return got, nil
}

// closeFiles ends all archives.
func (p *Place) closeFiles() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, a := range p.files {
		_ = a.file.Close() // it was only read
		delete(p.files, key)
	}
}

// filesOf returns the files of artifacts that mounts show, by key.
func (p *Place) filesOf(mounts []runner.Mount) map[string]podspec.Files {
	all := map[string]podspec.Files{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range mounts {
		if key, _, is := artifact.ParseMount(m.Source); is && p.files[key] != nil {
			all[key] = p.files[key].Files
		}
	}
	return all
}

// give sends all files to a Pod that starts, each when its init container runs. wait waits until a container of the Pod is
// so far.
func (p *Place) give(ctx context.Context, o podspec.Order, say func(why string), wait func(far containerIs) error) error {
	for n, key := range o.Keys() {
		name := podspec.FilesContainer(n)
		if err := wait(containerIs{name, podstatus.Initializes}); err != nil {
			return err
		}
		say("receiving the files of " + o.Files[key].Name)
		if err := p.send(ctx, o.Name, name, key, o.Files[key].Tree, say); err != nil {
			return err
		}
	}
	return nil
}

// send sends files to a container, and again after the connection was lost.
func (p *Place) send(ctx context.Context, pod, container, key, tree string, say func(why string)) error {
	p.mu.Lock()
	from := p.files[key]
	p.mu.Unlock()
	if from == nil || from.Tree != tree {
		return &runner.StartError{Fault: runner.NotStarted, Text: "the client has sent other files for the artifact meanwhile"}
	}
	limit := time.Now().Add(p.o.Timing.Patience)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := p.sendOnce(ctx, pod, container, key, from)
		if err == nil {
			return nil
		}
		var refused *remote.RefusedError
		seen, changed := p.pods.Get(pod)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case seen.Pod != nil && podstatus.Initialized(seen.Pod, container):
			return nil // the last answer was lost
		case errors.As(err, &refused), time.Now().After(limit), seen.Gone, seen.Pod != nil && podstatus.EndOf(seen.Pod).Over:
			return &runner.StartError{Fault: runner.NotStarted,
				Text: fmt.Sprintf("the files of %s could not be sent to %s: %s", from.Name, pod, err)}
		}
		say(fmt.Sprintf("sending the files of %s again: %s", from.Name, err))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(pause):
		}
	}
}

// sendOnce sends files over one connection.
func (p *Place) sendOnce(ctx context.Context, pod, container, key string, from *archive) error {
	stream, err := p.o.API.Exec(ctx, pod, container, podspec.Program, "talk", "-socket="+podspec.FilesSocket)
	if err != nil {
		return err
	}
	client, err := remote.NewClient(ctx, stream, remote.Hello{Build: remote.AgentVersion}, p.o.Timing.Agent)
	if err != nil {
		return err
	}
	err = client.Bring(ctx, remote.Files{Key: key, Name: from.Name, Tree: from.Tree}, io.NewSectionReader(from.file, 0, from.size))
	return errors.Join(err, client.Close())
}
