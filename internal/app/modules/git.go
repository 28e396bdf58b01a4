package modules

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/modsource"
)

// The limits of one fetch from a repository.
const (
	fetchTimeout = 10 * time.Minute
	maxFetched   = 256 << 20 // bytes on the disk
	maxListing   = 16 << 20  // bytes of what git prints
	watchEvery   = 100 * time.Millisecond
)

// repository fetches from repositories, with the git of this machine and its settings and credentials.
type repository struct {
	environ []string
	dir     string // a bare repository of its own, empty at first
}

// fetchGit returns what the ref of a source stands for, or the pinned commit.
func fetchGit(ctx context.Context, a modsource.Address, pin config.ModulePin, environ []string) (got config.ModulePin, t *tree, err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return got, nil, diag.Errorf("There is no git on this machine", "%s is a repository of git, and the program git is not in the "+
			"PATH. "+
			"Install it.", a.Package())
	}
	dir, err := os.MkdirTemp("", "deployster-git-")
	if err != nil {
		return got, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, fmt.Errorf("it took longer than %s", fetchTimeout))
	defer cancel()
	r := &repository{safeEnvironment(environ), dir}
	format := "sha1"
	if len(pin.Commit)+len(a.Commit()) > 0 && len(pin.Commit) != 40 && len(a.Commit()) != 40 {
		format = "sha256"
	}
	if _, err := r.git(ctx, nil, "init", "-q", "--bare", "--template=", "--object-format="+format, "."); err != nil {
		return got, nil, err
	}
	if got.Commit, err = r.fetch(ctx, a, pin.Commit); err != nil {
		return got, nil, err
	}
	hash, err := r.git(ctx, nil, "rev-parse", "--verify", "-q", got.Commit+"^{tree}")
	if err != nil {
		return got, nil, err
	}
	if t, err = r.tree(ctx, got.Commit); err != nil {
		return got, nil, err
	}
	got.Tree = strings.TrimSpace(string(hash))
	if have := t.hash(got.Tree); have != got.Tree {
		return got, nil, fmt.Errorf("the files of commit %s have the tree %s, and git has %s", got.Commit, have, got.Tree)
	}
	return got, t, nil
}

// fetch fetches the pinned commit, or what the ref stands for, and returns the commit.
func (r *repository) fetch(ctx context.Context, a modsource.Address, pinned string) (string, error) {
	commit := pinned
	if commit == "" {
		commit = a.Commit()
	}
	ref := a.Ref
	if ref == "" {
		ref = "HEAD"
	}
	if commit != "" {
		if err := r.get(ctx, a.URL, "--depth=1", commit); err == nil {
			return r.commit(ctx, commit)
		} else if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if a.Commit() != "" { // the server gives no commit by its hash alone
			if err := r.get(ctx, a.URL, "--tags", "+refs/heads/*:refs/heads/*"); err != nil {
				return "", err
			}
			return r.commit(ctx, commit)
		}
	}
	if err := r.get(ctx, a.URL, "--depth=1", ref); err != nil {
		return "", err
	}
	now, err := r.commit(ctx, "FETCH_HEAD")
	if err == nil && pinned != "" && now != pinned {
		return "", fmt.Errorf("%s is commit %s there now, the lock file pins commit %s, and the repository no longer has that. To use the "+
			"new "+
			"one, run `deployster init -upgrade`", ref, now, pinned)
	}
	return now, err
}

// get fetches from a URL into the repository, within the limits.
func (r *repository) get(ctx context.Context, url string, how, what string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for every := time.NewTicker(watchEvery); ; {
			select {
			case <-ctx.Done():
				every.Stop()
				return
			case <-every.C:
				if size(r.dir) > maxFetched {
					cancel(fmt.Errorf("the repository sent more than %d MiB, the limit", maxFetched>>20))
				}
			}
		}
	}()
	args := []string{"fetch", "-q", "--no-recurse-submodules", "--no-auto-maintenance", how}
	if how != "--tags" {
		args = append(args, "--no-tags")
	}
	_, err := r.git(ctx, nil, append(args, "--", url, what)...)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// size returns the bytes of the files below a directory, which may change meanwhile.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what has gone has no size
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// commit returns the hash of a commit that is here.
func (r *repository) commit(ctx context.Context, name string) (string, error) {
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "-q", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("the repository has no commit %s", name)
	}
	return strings.TrimSpace(string(out)), nil
}

// tree reads the files of a commit. Nothing is checked out, so no filter and no hook has a part in it.
func (r *repository) tree(ctx context.Context, commit string) (*tree, error) {
	listing, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	t, sum := newTree(), int64(0)
	var names, modes []string
	var hashes strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(head) // mode, kind, hash, size
		switch {
		case len(fields) == 4 && fields[1] == "commit":
			return nil, fmt.Errorf("it has the submodule %s, and submodules are not fetched. Declare it in a module block of its own", name)
		case len(fields) != 4 || fields[1] != "blob" || !slices.Contains([]string{modeFile, modeProgram, modeLink}, fields[0]):
			return nil, fmt.Errorf("it has %q, which is neither a file nor a symbolic link", line)
		}
		n, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("it has %q, without a size", line)
		}
		sum += n
		names, modes = append(names, name), append(modes, fields[0])
		if err := t.fits(len(names), sum); err != nil {
			return nil, err
		}
		hashes.WriteString(fields[2] + "\n")
	}
	if len(listing) == 0 {
		return nil, errors.New("it has no files")
	}
	blobs, err := r.git(ctx, strings.NewReader(hashes.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(bytes.NewReader(blobs))
	for i, name := range names {
		content, err := blob(in)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", name, err)
		}
		if err := t.add(name, entry{modes[i], content}); err != nil {
			return nil, err
		}
	}
	return t, t.checkLinks()
}

// blob reads one answer of git cat-file --batch.
func blob(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return nil, errors.New("git answers " + diag.Visible(strings.TrimSpace(head)))
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, err
	}
	content := make([]byte, n)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, err
	}
	_, err = in.ReadByte() // the end of its line
	return content, err
}

// git runs git, without a terminal, and returns what it prints.
func (r *repository) git(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	safe := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "submodule.recurse=false", "-c", "fetch.bundleURI=", "-c", "transfer.bundleURI=false", "-c", "credential.interactive=false"}
	c := exec.CommandContext(ctx, "git", append(safe, args...)...)
	c.Dir, c.Env, c.Stdin = r.dir, r.environ, in
	c.SysProcAttr = rootless.AsUser(&syscall.SysProcAttr{Setsid: true})
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	out, said := &bounded{max: maxBytes + maxListing}, &bounded{max: 64 << 10}
	c.Stdout, c.Stderr = out, said
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case out.full:
		return nil, errors.New("git printed more than is allowed")
	case err != nil:
		return nil, fmt.Errorf("git %s: %s", args[0], lastLines(said.String(), err))
	}
	return out.Bytes(), nil
}

// lastLines returns what git has said of its failure, in one line.
func lastLines(said string, err error) string {
	var lines []string
	for line := range strings.SplitSeq(said, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, strings.TrimSuffix(diag.Visible(line), "."))
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return strings.Join(lines[max(0, len(lines)-4):], "; ")
}

// bounded is a buffer that takes only so much, and drops the rest.
type bounded struct {
	bytes.Buffer
	max  int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); len(p) > room {
		b.full = true
		_, _ = b.Buffer.Write(p[:room]) // a buffer takes everything
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides that of the buffer, which has no limit.
func (b *bounded) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, from)
}

// foreign are variables that would point git to another repository, or have it run something.
var foreign = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR",
	"GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE", "GIT_IMPLICIT_WORK_TREE", "GIT_CONFIG",
	"GIT_TEMPLATE_DIR", "GIT_EXTERNAL_DIFF", "GIT_QUARANTINE_PATH"}

// safeEnvironment returns the environment of git: it prompts nobody, and speaks only protocols that a source can name.
func safeEnvironment(environ []string) (safe []string) {
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains(foreign, name) {
			safe = append(safe, pair)
		}
	}
	return append(safe, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never",
		"GIT_ALLOW_PROTOCOL=https:http:ssh:file",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_LFS_SKIP_SMUDGE=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
}
