package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release is one run of this command.
type release struct {
	version string
	commit  string
	date    time.Time // of the commit: all files get it
	root    string    // of the checkout
	work    string    // for files that are not published
	debian  string    // what was fetched of Debian, "" = below work
	out     string
	key     string // a private key of ed25519, "" = none
}

// architectures are those that are published, by Go's names.
var architectures = []string{"amd64", "arm64"}

func main() {
	r := release{}
	manual := flag.String("language", "", "only write the man page of the language into this `directory`")
	flag.StringVar(&r.version, "version", "", "the version, as 1.2.3 or 1.2.3-rc.1")
	flag.StringVar(&r.out, "out", "dist", "the `directory` for the files")
	flag.StringVar(&r.debian, "debian", "", "keep what is fetched of Debian in this `directory`, and use what another release has kept "+
		"there")
	flag.StringVar(&r.key, "key", "", "the private key that signs, a `file` of ed25519 in PEM")
	only := flag.String("arch", "", "only this `architecture`, for tests; default: "+strings.Join(architectures, " and "))
	flag.Parse()
	if *only != "" {
		architectures = []string{*only}
	}
	var err error
	if *manual != "" {
		err = languagePage("../docs/language.md", filepath.Join(*manual, "deployster-language.7"), time.Time{})
	} else {
		err = r.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var validVersion = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func (r *release) run() error {
	if !validVersion.MatchString(r.version) {
		return fmt.Errorf("%q is not a version such as 1.2.3: give it with VERSION=1.2.3", r.version)
	}
	if err := r.findCommit(); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "deployster-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // at worst files in the temporary directory are left
	r.work = work
	if r.debian == "" {
		r.debian = work
	} else if r.debian, err = filepath.Abs(r.debian); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	var trees []tree
	for _, arch := range architectures {
		r.say("building for %s", arch)
		if err := r.build(arch); err != nil {
			return err
		}
	}
	common, err := r.common()
	if err != nil {
		return err
	}
	layouts, err := r.layouts()
	if err != nil {
		return err
	}
	common = append(common, layouts...)
	for _, arch := range architectures {
		t := r.tree(arch, common)
		trees = append(trees, t)
		r.say("packing for %s", arch)
		if err := errors.Join(r.archive(t), r.packages(t), r.bundle(arch)); err != nil {
			return err
		}
	}
	if err := r.darwin(common); err != nil {
		return err
	}
	r.say("making the image for CIs")
	debian, err := r.image(trees)
	if err != nil {
		return err
	}
	if err := r.bom(debian); err != nil {
		return err
	}
	return r.checksums()
}

// findCommit finds what is built. A changed checkout is not a commit, and is named so.
func (r *release) findCommit() (err error) {
	if r.root, err = filepath.Abs(".."); err != nil {
		return err
	}
	if r.commit, err = r.output(r.root, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	date, err := r.output(r.root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	var seconds int64
	if _, err := fmt.Sscan(date, &seconds); err != nil {
		return err
	}
	r.date = time.Unix(seconds, 0).UTC()
	changes, err := r.output(r.root, "git", "status", "--porcelain")
	if err != nil || changes == "" {
		return err
	}
	r.commit += "-changed"
	if !strings.Contains(r.version, "-") {
		return fmt.Errorf("the checkout has changes that are not committed: commit them, or choose a version such as %s-rc.1", r.version)
	}
	return nil
}

func (r *release) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...)
}

// output runs a command and returns what it prints, without the last newline.
func (r *release) output(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// checksums writes SHA256SUMS, as sha256sum prints it, and its signature.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), e.Name())
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	if err := os.WriteFile(path, []byte(sums.String()), 0o644); err != nil {
		return err
	}
	if r.key == "" {
		r.say("no signature: KEY=FILE names a private key, which `openssl genpkey -algorithm ed25519` makes")
		return nil
	}
	_, err = r.output(".", "openssl", "pkeyutl", "-sign", "-rawin", "-inkey", r.key, "-in", path, "-out", path+".sig")
	return err
}

// native returns deployster for this machine, which writes its own man pages and completions.
func (r *release) native() (string, error) {
	if !slices.Contains(architectures, runtime.GOARCH) {
		return "", fmt.Errorf("a release is made on %s, and not on %s", strings.Join(architectures, " or "), runtime.GOARCH)
	}
	return r.binary(runtime.GOARCH, "deployster"), nil
}
