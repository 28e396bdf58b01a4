// Command line is the program of the images of artifacts that the benchmark measures, in
// both protocols: it lists as many versions, and brings as many files, as its source says.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// request is what it is asked: of v1 images in source, of others in config.
type request struct {
	Source, Config struct {
		Versions int // how many it lists; 0 = one
		Files    int
		Size     int // of each file, in bytes
	}
	ResponsePath string `json:"response_path"`
	Version      json.RawMessage
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The steps: a v1 image has a link of each name to this program.
func run() error {
	step, args := filepath.Base(os.Args[0]), os.Args[1:]
	if step == "line" && len(args) > 0 {
		step, args = args[0], args[1:]
	}
	var r request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return err
	}
	switch step {
	case "line":
		_, err := fmt.Println(`{"artifacts":{"api_version":"2.0","check":"/line list","get":"/line get"}}`)
		return err
	case "check":
		_, err := fmt.Printf("[{\"ref\":\"%d\"}]\n", max(1, r.Source.Versions))
		return err
	case "in":
		if err := fill(args[0], r.Source.Files, r.Source.Size); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"version": r.Version})
	case "list":
		return list(r.ResponsePath, max(1, r.Config.Versions))
	case "get":
		return fill(".", r.Config.Files, r.Config.Size)
	}
	return fmt.Errorf("there is no step %q", step)
}

// list writes the lines of a check.
func list(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = io.WriteString(w, "{\"default_space\":\"main\"}\n") // Flush has its error
	for i := 1; i <= n; i++ {
		_, _ = fmt.Fprintf(w, `{"space":"main","version":{"ref":"%040d"},"metadata":[{"name":"author","value":"ann"}]}`+"\n", i)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// fill writes files, a hundred in a directory.
func fill(dir string, files, size int) error {
	content := make([]byte, size)
	for i := range files {
		in := filepath.Join(dir, fmt.Sprint(i/100))
		if i%100 == 0 {
			if err := os.Mkdir(in, 0o755); err != nil {
				return err
			}
		}
		copy(content, fmt.Sprintf("file %d\n", i)) // no two are the same
		if err := os.WriteFile(filepath.Join(in, fmt.Sprint(i)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
