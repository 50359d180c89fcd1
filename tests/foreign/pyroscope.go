// Takes what `limpet push` sends by Pyroscope's own API, and prints what came: a line of JSON for each series, with its labels and the
// self values of functions, as pprof's own reader finds them.
//
//	pyroscope
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	push "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

type pusher struct {
	pushv1connect.UnimplementedPusherServiceHandler
}

type found struct {
	Labels    map[string]string `json:"labels"`
	Types     []string          `json:"types"`
	Functions map[string]int64  `json:"functions"`
}

func read(raw []byte, into *found) error {
	p, err := profile.Parse(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	for _, kind := range p.SampleType {
		into.Types = append(into.Types, kind.Type+":"+kind.Unit)
	}
	for _, sample := range p.Sample {
		name := "?"
		if len(sample.Location) > 0 && len(sample.Location[0].Line) > 0 {
			name = sample.Location[0].Line[0].Function.Name
		}
		into.Functions[name] += sample.Value[len(sample.Value)-1]
	}
	return p.CheckValid()
}

func (pusher) Push(_ context.Context, request *connect.Request[push.PushRequest]) (*connect.Response[push.PushResponse], error) {
	for _, series := range request.Msg.Series {
		one := found{Labels: map[string]string{}, Functions: map[string]int64{}}
		for _, label := range series.Labels {
			one.Labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if err := read(sample.RawProfile, &one); err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
		}
		line, _ := json.Marshal(one)
		fmt.Println(string(line))
	}
	return connect.NewResponse(&push.PushResponse{}), nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, mux)
}
