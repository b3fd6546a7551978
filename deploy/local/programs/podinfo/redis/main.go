// Command redis serves, and asks, a Redis in memory. It is what an image needs of `redis-server` and `redis-cli` for charts
// that start a cache of their own: it chooses its work by the name it is called by.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

const (
	port      = "6379"
	tickEvery = 100 * time.Millisecond
	patience  = 3 * time.Second
)

// What the directives of a configuration may say here: nothing is ever written to a disk. A limit of memory is the pod's.
var known = map[string]func(value string) bool{
	"appendonly":       func(value string) bool { return value == "no" },
	"maxmemory":        func(string) bool { return true },
	"maxmemory-policy": func(string) bool { return true },
	"save":             func(value string) bool { return value == `""` },
}

func main() {
	var err error
	switch name := filepath.Base(os.Args[0]); name {
	case "redis-server":
		err = serve(os.Args[1:])
	case "redis-cli":
		err = ask(os.Args[1:])
	default:
		err = fmt.Errorf("unknown program %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers until it gets a signal to stop. Given is the file of its configuration, if any.
func serve(arguments []string) error {
	for _, file := range arguments {
		if err := readConfiguration(file); err != nil {
			return err
		}
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(":" + port); err != nil {
		return err
	}
	defer server.Close()
	fmt.Println("Ready to accept connections on port", port)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	tick := time.NewTicker(tickEvery)
	for last := time.Now(); ; {
		select {
		case <-stop:
			return nil
		case <-tick.C:
			// Its keys grow no older by themselves.
			now := time.Now()
			server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// readConfiguration refuses what this server does otherwise.
func readConfiguration(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		directive, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if directive == "" || strings.HasPrefix(directive, "#") {
			continue
		}
		allowed, isKnown := known[directive]
		if !isKnown || !allowed(strings.TrimSpace(value)) {
			return fmt.Errorf("%s: this server can't do %q", file, strings.TrimSpace(line))
		}
	}
	return nil
}

// ask sends one command and prints its answer: a text, a number or an error, but no list.
func ask(arguments []string) error {
	connection, err := net.DialTimeout("tcp", "127.0.0.1:"+port, patience)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	// https://redis.io/docs/latest/develop/reference/protocol-spec/
	command := fmt.Sprintf("*%d\r\n", len(arguments))
	for _, argument := range arguments {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(argument), argument)
	}
	if _, err := connection.Write([]byte(command)); err != nil {
		return err
	}
	answer, err := readAnswer(bufio.NewReader(connection))
	if err != nil {
		return err
	}
	fmt.Println(answer)
	return nil
}

func readAnswer(reader *bufio.Reader) (string, error) {
	line, err := reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	kind, rest := line[0], strings.TrimSpace(line[1:])
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New(rest)
	case '$':
		length, err := strconv.Atoi(rest)
		if err != nil || length < 0 {
			return "(nil)", err
		}
		text := make([]byte, length)
		_, err = io.ReadFull(reader, text)
		return string(text), err
	default:
		return "", fmt.Errorf("no answer that is shown here: %q", line)
	}
}
