package imagefiles

import (
	"bytes"
	"context"
	"debug/elf"
	_ "embed" // the script json
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"
)

// AddProgram adds a program of this machine at its own path, with the dynamic
// linker and the libraries that it needs at theirs.
func (s *Set) AddProgram(ctx context.Context, path string) error {
	linker, err := linkerOf(path)
	if err != nil {
		return err
	}
	if linker == "" && needsLibraries(path) {
		return fmt.Errorf("it is a library, not a program. -add adds it, with the libraries that it needs")
	}
	if err := s.addFile(path, path, along); err != nil || linker == "" {
		return err
	}
	libraries, err := librariesOf(ctx, linker, path)
	if err != nil {
		return err
	}
	for _, library := range append(libraries, linker) {
		if err := s.addFile(library, library, along); err != nil {
			return err
		}
	}
	return nil
}

// linkerOf returns the dynamic linker that a program requests; "" for a static one.
func linkerOf(path string) (string, error) {
	f, err := elf.Open(path)
	var format *elf.FormatError
	if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%s is not a program for this machine", path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			name := make([]byte, p.Filesz)
			if _, err := p.ReadAt(name, 0); err != nil {
				return "", err
			}
			return string(bytes.TrimRight(name, "\x00")), nil
		}
	}
	return "", nil
}

// linkerLimit is how long the dynamic linker may take to look up libraries.
const linkerLimit = time.Minute

// librariesOf queries the dynamic linker for the libraries of a program. It finds
// them, and does not run the program.
func librariesOf(ctx context.Context, linker, path string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, linkerLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, linker, "--list", path).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the libraries of %s cannot be found: %w: %s", path, err, bytes.TrimSpace(out))
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		name, rest, arrow := strings.Cut(strings.TrimSpace(line), " => ")
		if !arrow {
			continue // the linker itself, and the library that the kernel provides
		}
		at, _, _ := strings.Cut(rest, " (")
		if !strings.HasPrefix(at, "/") {
			return nil, fmt.Errorf("%s needs the library %s, which is not on this machine", path, name)
		}
		list = append(list, at)
	}
	return list, nil
}

// jsonScript reads and writes JSON for shell scripts.
//
//go:embed json.sh
var jsonScript []byte

// secretScript is the type of a secret block whose value a program prints.
//
//go:embed secret.sh
var secretScript []byte

// SecretProgram is the path of the program that AddSecret starts images with.
const SecretProgram = "/secret"

// AddSecret adds a program of this machine that prints a secret, and the script that makes a type of it. It needs a shell.
func (s *Set) AddSecret(ctx context.Context, path string) error {
	const program = "/secret-program"
	content, err := os.ReadFile(path)
	switch {
	case err != nil:
	case bytes.HasPrefix(content, []byte("#!")):
		err = s.put(program, file{mode: 0o755, data: content})
	default:
		if err = s.AddProgram(ctx, path); err == nil {
			err = s.put(program, file{mode: fs.ModeSymlink | 0o777, link: path[1:]})
		}
	}
	if err != nil {
		return err
	}
	return s.put(SecretProgram, file{mode: 0o755, data: secretScript})
}

// busyboxPlaces are the paths where a busybox may be.
var busyboxPlaces = []string{"/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox"}

// AddShell adds what shell scripts need: this machine's busybox under all its
// names in /bin, /usr/bin/env, the script /bin/json, and a /tmp.
func (s *Set) AddShell(ctx context.Context) error {
	path := ""
	for _, place := range busyboxPlaces {
		if linker, err := linkerOf(place); err == nil && linker == "" {
			path = place
			break
		}
	}
	if path == "" {
		return errors.New("there is no static busybox on this machine (apt-get install busybox-static installs one); or put the files " +
			"on top of an image that has a shell")
	}
	ctx, cancel := context.WithTimeout(ctx, linkerLimit)
	defer cancel()
	applets, err := exec.CommandContext(ctx, path, "--list").Output()
	if err != nil {
		return fmt.Errorf("%s does not list its applets: %w", path, err)
	}
	if err := s.addFile(path, "/bin/busybox", along); err != nil {
		return err
	}
	add := func(target string, f file) {
		if err == nil {
			err = s.put(target, f)
		}
	}
	for _, applet := range strings.Fields(string(applets)) {
		if applet != "busybox" {
			add("/bin/"+applet, file{mode: fs.ModeSymlink | 0o777, link: "busybox"})
		}
	}
	add("/usr/bin/env", file{mode: fs.ModeSymlink | 0o777, link: "../../bin/busybox"})
	add("/bin/json", file{mode: 0o755, data: jsonScript})
	add("/tmp", file{mode: fs.ModeDir | fs.ModeSticky | 0o777})
	return err
}
