// The one program in every image of the test cluster: the sandbox ("pause") and a workload that misbehaves on request.
// The mode is the first argument, else $MODE, else "run". Called as "sleep" or "false" it is just that.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	exitOnTerm()
	switch filepath.Base(os.Args[0]) {
	case "sleep":
		time.Sleep(seconds(argument(1), 0))
		return
	case "false":
		os.Exit(1)
	}
	switch mode := chosenMode(); mode {
	case "pause":
		select {}
	case "run":
		serve(http.StatusOK)
	case "unready":
		serve(http.StatusServiceUnavailable)
	case "crash":
		crashAfter(seconds(os.Getenv("AFTER"), 0.3))
	case "run-then-crash":
		go serve(http.StatusOK)
		crashAfter(seconds(argument(2), 5))
	case "oom":
		outliveItsChild("allocate")
	case "allocate":
		allocateUntilKilled()
	default:
		fmt.Fprintf(os.Stderr, "unknown mode %q: use run, crash, oom, unready, run-then-crash SECONDS or pause\n", mode)
		os.Exit(2)
	}
}

func chosenMode() string {
	if mode := argument(1); mode != "" {
		return mode
	}
	if mode := os.Getenv("MODE"); mode != "" {
		return mode
	}
	return "run"
}

func argument(n int) string {
	if len(os.Args) > n {
		return os.Args[n]
	}
	return ""
}

// As process 1 of a container nothing ends this program on SIGTERM but itself.
func exitOnTerm() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		os.Exit(0)
	}()
}

func serve(status int) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintln(w, http.StatusText(status))
	})
	fmt.Println("serving on :8080, answering", status)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(":8080", handler))
	os.Exit(1)
}

func crashAfter(delay time.Duration) {
	time.Sleep(delay)
	fmt.Fprintln(os.Stderr, "fatal: crashing as asked")
	os.Exit(1)
}

// The runtime learns of a kill for memory from the container's cgroup. If process 1 is the one that is killed, the cgroup
// may be gone before the runtime has looked, and the kubelet says "Error" instead of "OOMKilled". So a child is killed,
// and process 1 gives the runtime a second before it ends as if it had been killed itself.
func outliveItsChild(mode string) {
	child := exec.Command("/proc/self/exe", mode)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	err := child.Run()
	fmt.Fprintln(os.Stderr, "the child ended:", err)
	time.Sleep(time.Second)
	os.Exit(137)
}

// Touching every page makes the memory count against the container's limit.
func allocateUntilKilled() {
	fmt.Println("allocating until killed")
	var held [][]byte
	for {
		block := make([]byte, 8<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
		time.Sleep(20 * time.Millisecond)
		if len(held) > 256 {
			fmt.Fprintln(os.Stderr, "no memory limit stopped this container: giving up at 2 GiB")
			os.Exit(1)
		}
	}
}

func seconds(text string, fallback float64) time.Duration {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		value = fallback
	}
	return time.Duration(value * float64(time.Second))
}
