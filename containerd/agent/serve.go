package agent

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
)

// Serve is the main function of the agent: it starts programs for the client that listens
// at the path, one after the other, until that closes the connection. It returns the exit
// code.
func Serve(path string) int {
	// The memory and threads that it uses count against the container's limits.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(10)
	debug.SetMemoryLimit(math.MaxInt64) // overrides the image's environment
	// As the first process it gets only the signals that it handles: without a handler a
	// program could end it with one. Its children get the default handling back.
	signal.Notify(make(chan os.Signal, 1))
	// The programs must not be able to read earlier requests from its memory.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0); errno != 0 {
		return 1
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 1
	}
	if err := connect(fd, path); err != nil {
		return 1
	}
	dir, err := syscall.Getwd()
	if err != nil {
		return 1
	}
	s := &server{fd: fd, conn: os.NewFile(uintptr(fd), path), dir: dir, env: syscall.Environ()}
	if !s.reply(Ready, Layout) {
		return 1
	}
	for acted := 0; ; {
		argv, files, ok := s.request()
		if !ok {
			return acted
		}
		run := s.run
		if len(files) == ActionFiles {
			// Who knows no records takes 0 for the end of a program that has begun nothing.
			run, acted = s.act, 1
		}
		if !run(argv, files) {
			return 1
		}
	}
}

func connect(fd int, path string) error {
	for {
		if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != syscall.EINTR {
			return err
		}
	}
}

// server is an agent with its one client.
type server struct {
	fd   int
	conn *os.File // the same connection
	dir  string
	env  []string
}

// reply sends a reply to the client; false = the client is gone.
func (s *server) reply(k Kind, value uint32) bool {
	_, err := s.conn.Write(Reply{k, value}.encode())
	return err == nil
}

// request waits for a command line and its files; false = none will come.
func (s *server) request() (argv []string, files []int, ok bool) {
	head := make([]byte, headSize)
	if files = s.receive(head); len(files) != Files && len(files) != ActionFiles {
		closeAll(files)
		return nil, nil, false
	}
	size := binary.LittleEndian.Uint32(head)
	if size > MaxRequest {
		return nil, files, false
	}
	body := make([]byte, size)
	if !s.read(body) {
		return nil, files, false
	}
	argv, ok = decodeArgs(body)
	return argv, files, ok
}

// receive fills the head of a request, and returns the files that are sent with it.
func (s *server) receive(head []byte) []int {
	oob := make([]byte, syscall.CmsgSpace(4*ActionFiles))
	for {
		n, oobn, _, _, err := syscall.Recvmsg(s.fd, head[:1], oob, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n != 1 {
			return nil
		}
		messages, err := syscall.ParseSocketControlMessage(oob[:oobn])
		if err != nil || len(messages) != 1 {
			return nil
		}
		files, err := syscall.ParseUnixRights(&messages[0])
		if err != nil || !s.read(head[1:]) {
			return nil
		}
		return files
	}
}

func (s *server) read(b []byte) bool {
	_, err := io.ReadFull(s.conn, b)
	return err == nil
}

func closeAll(files []int) {
	for _, f := range files {
		_ = syscall.Close(f) // nothing is buffered
	}
}

// run starts the program of a query, and reports how it ended; false = the client is gone.
func (s *server) run(argv []string, files []int) bool {
	reap()
	pid, err := s.start(argv, files)
	closeAll(files)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		return s.reply(Failed, uint32(errno))
	}
	if !s.reply(Started, uint32(pid)) {
		return false
	}
	status, ok := await(pid)
	return ok && s.reply(Ended, uint32(status))
}

// reap reaps processes of earlier programs that have ended since.
func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.EINTR && (err != nil || pid <= 0) {
			return
		}
	}
}

// await waits for the end of a program.
func await(pid int) (status syscall.WaitStatus, ok bool) {
	for {
		// Wait4 also returns orphans, whose parents have ended before.
		switch ended, err := syscall.Wait4(-1, &status, 0, nil); {
		case err == syscall.EINTR:
		case err != nil:
			return 0, false
		case ended == pid:
			return status, true
		}
	}
}

// start starts a program as runc starts the first one of a container: it leads a session,
// and has the working directory and the environment with which this process was started.
func (s *server) start(argv []string, files []int) (pid int, err error) {
	// An earlier program may have moved or removed the directory. The kernel is queried:
	// PWD in the environment may be wrong.
	if dir, err := syscall.Getwd(); err != nil || dir != s.dir {
		return 0, syscall.ENOTDIR
	}
	path, err := s.find(argv[0])
	if err != nil {
		return 0, err
	}
	given := make([]uintptr, len(files))
	for i, f := range files {
		given[i] = uintptr(f)
	}
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: s.env, Files: given, Sys: &syscall.SysProcAttr{Setsid: true}})
}

// find finds a program on PATH. If PATH has an unusual form, find fails, and the query
// runs in a container of its own.
func (s *server) find(name string) (string, error) {
	if strings.IndexByte(name, '/') >= 0 {
		return name, nil
	}
	list := ""
	for _, kv := range s.env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = value
		}
	}
	for _, dir := range strings.Split(list, ":") {
		if name == "" || !strings.HasPrefix(dir, "/") {
			return "", syscall.ENOENT
		}
		path := dir + "/" + name
		var st syscall.Stat_t
		if syscall.Stat(path, &st) == nil && st.Mode&syscall.S_IFMT != syscall.S_IFDIR && syscall.Access(path, 1) == nil {
			return path, nil
		}
	}
	return "", syscall.ENOENT
}
