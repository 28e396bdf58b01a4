package unpacked

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/internal/base/imagefiles"
	"deployster/internal/runtime/artifact"
)

// checkScripts returns an error if a program that an image is run by is a script whose
// first line ends as on Windows: the kernel would search for an interpreter with a
// carriage return in its name, and report only that there is no such file.
func checkScripts(root *os.Root, p *Prepared) error {
	programs := artifact.ConcoursePrograms()
	if len(p.Config.Entrypoint) > 0 {
		programs = append(programs, p.Config.Entrypoint[0])
	} else if len(p.Config.Cmd) > 0 {
		programs = append(programs, p.Config.Cmd[0])
	}
	for _, program := range programs {
		name, ok := strings.CutPrefix(program, "/")
		if ok && imagefiles.WindowsScript(head(root, name)) {
			return fmt.Errorf("the lines of its script %s end with a carriage return, as on Windows, which would be taken for a part of "+
				"the interpreter's name. Build the image again with Unix line ends: sed -i 's/\\r$//' FILE", program)
		}
	}
	return nil
}

// head reads the first bytes of a regular file; nil = it is not one, or cannot be read.
func head(root *os.Root, name string) []byte {
	// Non-blocking, because it could be a FIFO.
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil
	}
	b := make([]byte, 256)
	n, _ := io.ReadFull(f, b) // a short file is not an error
	return b[:n]
}
