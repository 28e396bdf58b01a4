package agent

import (
	"io"
	"os"
	"sync"
	"syscall"
)

// act runs the program of an action, whether or not there is a client; false = the client is gone. The
// files take what it prints, and the last one the record of what becomes of it.
func (s *server) act(argv []string, files []int) bool {
	reap()
	record := os.NewFile(uintptr(files[Files]), "record")
	defer record.Close()
	if _, err := record.WriteString(Begun); err != nil {
		closeAll(files[:Files])
		return s.reply(Failed, uint32(syscall.EIO))
	}
	pid, copied, err := s.startCopied(argv, files[:Files])
	if err != nil {
		_, _ = record.WriteString(NotBegun) // otherwise it is unknown whether it has begun
		errno, _ := err.(syscall.Errno)
		return s.reply(Failed, uint32(errno))
	}
	client := s.reply(Started, uint32(pid))
	status, ok := await(pid)
	if !ok {
		return false
	}
	endOthers()
	copied.Wait()
	_, _ = record.WriteString(Exited(status)) // otherwise its end is unknown, unless the client learns of it
	return client && s.reply(Ended, uint32(status))
}

// startCopied starts a program like start does. Its outputs are pipes, as in a container of its own: a
// program that opens /dev/stderr again would truncate a plain file. What it prints is copied to the files,
// which are closed at the end of it.
func (s *server) startCopied(argv []string, files []int) (pid int, copied *sync.WaitGroup, err error) {
	given := []int{files[0]}
	var pipes [2]*os.File
	for i := range pipes {
		var ends [2]int
		if err == nil {
			err = syscall.Pipe2(ends[:], syscall.O_CLOEXEC)
		}
		if err == nil {
			_ = syscall.SetNonblock(ends[0], true) // else reading it takes a thread
			pipes[i], given = os.NewFile(uintptr(ends[0]), "pipe"), append(given, ends[1])
		}
	}
	if err == nil {
		pid, err = s.start(argv, given)
	}
	closeAll(given)
	copied = new(sync.WaitGroup)
	for i, from := range pipes {
		to := os.NewFile(uintptr(files[1+i]), "output")
		copied.Go(func() {
			defer to.Close()
			if from != nil {
				defer from.Close()
				if _, err := io.Copy(to, from); err != nil {
					_, _ = io.Copy(io.Discard, from) // the program does not wait when the disk is full
				}
			}
		})
	}
	return pid, copied, err
}

// endOthers ends what the program of an action has left running, as the end of a container of its own
// would, and waits for that. Nothing else runs in the container.
func endOthers() {
	if os.Getpid() != 1 {
		return // it is not the first process of a container
	}
	for {
		// A process that is killed starts no other.
		if err := syscall.Kill(-1, syscall.SIGKILL); err == syscall.ESRCH {
			return
		}
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			return
		}
	}
}
