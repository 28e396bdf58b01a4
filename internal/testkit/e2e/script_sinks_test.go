package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/rogpeppe/go-internal/testscript"
)

// listenForHooks is a server of webhooks, whose URL is in $HOOK: each request is a line of a file, with its path and
// its body. The path /fail/N answers N requests with 503 first; each other path with 200.
func listenForHooks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hooks FILE")
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	failed := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		most, isFail := strings.CutPrefix(r.URL.Path, "/fail/")
		if n, _ := strconv.Atoi(most); err != nil || isFail && failed < n {
			failed++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(file, "%s %s\n", r.URL.Path, body) // what is missing in it the script misses
	}))
	atEnd(ts, func() error {
		server.Close()
		return file.Close()
	})
	ts.Setenv("HOOK", server.URL)
}

// listenForMail is a mail server without TLS, whose address is in $MAIL: it lets in who logs in as ops with the
// password of the script, and appends each mail to a file.
func listenForMail(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mails FILE PASSWORD")
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailbox{file: file, password: args[1]}, nil }))
	server.Domain, server.AllowInsecureAuth = "localhost", true
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	atEnd(ts, func() error {
		err := server.Close()
		<-ended
		return errors.Join(err, file.Close())
	})
	ts.Setenv("MAIL", l.Addr().String())
}

// mailbox is one connection to the mail server.
type mailbox struct {
	file     *os.File
	password string
	in       bool // logged in
}

func (m *mailbox) AuthMechanisms() []string { return []string{sasl.Plain} }

func (m *mailbox) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if m.in = user == "ops" && password == m.password; !m.in {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (m *mailbox) Mail(from string, _ *smtp.MailOptions) error {
	if !m.in {
		return smtp.ErrAuthRequired
	}
	_, err := fmt.Fprintln(m.file, "MAIL FROM", from)
	return err
}

func (m *mailbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	_, err := fmt.Fprintln(m.file, "RCPT TO", to)
	return err
}

func (m *mailbox) Data(r io.Reader) error {
	_, err := io.Copy(m.file, r)
	return err
}

func (m *mailbox) Reset()        {}
func (m *mailbox) Logout() error { return nil }
