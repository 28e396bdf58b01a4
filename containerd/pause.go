package containerd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// pausePath is where a container that is reused has its first process, which
// waits and does nothing else: an image need not have a program for that. In
// /dev it is not among the image's files.
const pausePath = "/dev/.deployster-pause"

// pauseCode is the machine code of that process, by architecture. What ends
// below it and was left by its parent is not kept as a zombie, since SIGCHLD is
// ignored. A Go program in its place would count some megabytes against the
// memory that a type block grants.
func pauseCode() []byte {
	if runtime.GOARCH != "amd64" {
		return nil // every invocation has a container of its own there
	}
	return []byte{
		0x31, 0xd2, // xor edx, edx: no old action
		0x52, 0x52, 0x52, // push rdx, three times: mask, restorer, flags
		0x6a, 0x01, // push 1: SIG_IGN
		0x48, 0x89, 0xe6, // mov rsi, rsp: the action
		0xbf, 0x11, 0, 0, 0, // mov edi, 17: SIGCHLD
		0x41, 0xba, 0x08, 0, 0, 0, // mov r10d, 8: the size of a mask
		0xb8, 0x0d, 0, 0, 0, // mov eax, 13: rt_sigaction
		0x0f, 0x05, // syscall
		0xb8, 0x22, 0, 0, 0, // mov eax, 34: pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp to pause
	}
}

// executableFile is machine code as a program: one header for the file, one for the
// only segment.
func executableFile(code []byte) []byte {
	const base, headers = 0x400000, 64 + 56
	var b []byte
	le := binary.LittleEndian
	b = append(b, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint16(b, 2)  // an executable
	b = le.AppendUint16(b, 62) // for x86-64
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+headers) // where it begins
	b = le.AppendUint64(b, 64)           // the segment's header
	b = le.AppendUint64(b, 0)            // no sections
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} { // sizes and numbers of headers
		b = le.AppendUint16(b, v)
	}
	size := uint64(headers + len(code))
	b = le.AppendUint32(b, 1)                                       // to be loaded
	b = le.AppendUint32(b, 5)                                       // to be read and executed
	for _, v := range []uint64{0, base, base, size, size, 0x1000} { // offset, addresses, sizes, alignment
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}

// pauseFile gives the path of the program on this host, and makes it if it is
// not there.
func (r *Runtime) pauseFile() (string, error) {
	if pauseCode() == nil {
		return "", fmt.Errorf("containers are not reused on %s", runtime.GOARCH)
	}
	dir := r.programDir()
	path := filepath.Join(dir, "deployster-pause")
	want := executableFile(pauseCode())
	if have, err := os.ReadFile(path); err == nil && string(have) == string(want) {
		return path, nil
	}
	f, err := os.CreateTemp(dir, ".pause-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(want)
	if err = errors.Join(err, f.Chmod(0o755), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return path, nil
}
