package planpage

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browser is a headless Chromium, spoken with through its debugging pipe: it
// needs no port, and ends when the pipe does.
type browser struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *os.File // commands
	log strings.Builder

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	events  []event
	ended   error // why there is nothing to read any more
}

// reply is what the browser says: the answer to a command, or an event.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	event
}

type event struct {
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Session string          `json:"sessionId"`
}

// patience is how long a busy machine may take for anything.
const patience = 90 * time.Second

// startBrowser starts one for all pages of a test. It is gone when the test is.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is missing: .ci/setup test installs it")
	}
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, in: ourIn, waiting: map[int]chan reply{}}
	b.cmd = exec.Command(program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--disable-features=OptimizationHints,MediaRouter,Translate", "--hide-scrollbars", "--mute-audio", "--no-zygote", "about:blank")
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	b.cmd.Stderr = &b.log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(bufio.NewReaderSize(ourOut, 1<<20))
	}()
	t.Cleanup(func() {
		_, _ = b.send("", "Browser.close", nil) // it may be gone already
		_ = ourIn.Close()
		timer := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) })
		_ = b.cmd.Wait() // with what exit code a browser ends is nothing to us
		timer.Stop()
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // its helpers
		<-done
		_ = ourOut.Close()
	})
	return b
}

// read takes what the browser says until it ends: JSON, each ended by a zero.
func (b *browser) read(from *bufio.Reader) {
	for {
		line, err := from.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			b.ended = fmt.Errorf("the browser has ended: %w", err)
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		var r reply
		if err := json.Unmarshal(line[:len(line)-1], &r); err != nil {
			continue
		}
		b.mu.Lock()
		if r.ID == 0 {
			b.events = append(b.events, r.event)
		} else if c := b.waiting[r.ID]; c != nil {
			delete(b.waiting, r.ID)
			c <- r
		}
		b.mu.Unlock()
	}
}

// send gives a command and waits for its answer.
func (b *browser) send(session, method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return nil, b.ended
	}
	b.last++
	id := b.last
	b.waiting[id] = answer
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return nil, err
	}
	select {
	case r, ok := <-answer:
		if !ok {
			return nil, errors.New("the browser ended")
		}
		if r.Error != nil {
			return nil, errors.New(method + ": " + r.Error.Message)
		}
		return r.Result, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer in %s", method, patience)
	}
}

// tab is one page in the browser.
type tab struct {
	*browser
	t       *testing.T
	session string
}

// open shows a file.
func (b *browser) open(t *testing.T, url string, width int, before ...func(*tab)) *tab {
	t.Helper()
	p := &tab{browser: b, t: t}
	var made struct{ TargetID, SessionID string }
	p.into(&made, "Target.createTarget", map[string]any{"url": "about:blank"})
	p.into(&made, "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true})
	p.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.must(domain+".enable", nil)
	}
	p.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
	for _, do := range before {
		do(p)
	}
	p.must("Page.navigate", map[string]any{"url": url})
	p.until(`document.readyState === "complete" && location.href !== "about:blank"`)
	return p
}

func (p *tab) must(method string, params any) json.RawMessage {
	p.t.Helper()
	result, err := p.send(p.session, method, params)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
	return result
}

func (p *tab) into(value any, method string, params any) {
	p.t.Helper()
	if err := json.Unmarshal(p.must(method, params), value); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates JavaScript and gives its value as JSON, or what was thrown.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	p.into(&out, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if out.ExceptionDetails != nil {
		return "exception " + string(out.ExceptionDetails)
	}
	return string(out.Result.Value)
}

// want waits until an expression has a value.
func (p *tab) want(expression, value string) {
	p.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = p.eval(expression); got == value {
			return
		}
	}
	p.t.Errorf("%s: got %s, want %s", expression, got, value)
}

func (p *tab) until(condition string) { p.t.Helper(); p.want("Boolean("+condition+")", "true") }

// press presses keys as a person does: a name such as Enter, or characters.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key}
		switch {
		case key == "Enter":
			down["text"], down["windowsVirtualKeyCode"] = "\r", 13
		case key == "Escape":
			down["windowsVirtualKeyCode"] = 27
		case len(key) == 1:
			down["text"] = key
		}
		p.must("Input.dispatchKeyEvent", down)
		p.must("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
	}
}

// typed writes into what has the focus.
func (p *tab) typed(text string) {
	p.t.Helper()
	p.must("Input.insertText", map[string]any{"text": text})
}

// picture writes a screenshot.
func (p *tab) picture(file string, full bool) {
	p.t.Helper()
	var shot struct{ Data string }
	p.into(&shot, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": full})
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// complaints lists errors and warnings of the console, and what was asked of
// any network but for the page itself.
func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, e := range p.events {
		if e.Session != p.session {
			continue
		}
		switch e.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			list = append(list, e.Method+" "+string(e.Params))
		case "Network.requestWillBeSent":
			var asked struct {
				Request struct{ URL string }
				Type    string
			}
			if json.Unmarshal(e.Params, &asked) != nil || asked.Type != "Document" && !strings.HasPrefix(asked.Request.URL, "data:") {
				list = append(list, "it asked for "+asked.Request.URL)
			}
		}
	}
	return list
}
