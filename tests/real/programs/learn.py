"""A small net that learns on the CPU for ever; prints "done N failed N" after each round."""

import torch

ROWS, WIDTH = 512, 256


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, 2 * WIDTH)
        self.second = torch.nn.Linear(2 * WIDTH, 1)

    def forward(self, rows):
        return self.second(torch.relu(self.first(rows)))


def learn(net, optimizer):
    rows = torch.randn(ROWS, WIDTH)
    loss = torch.nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    done = failed = 0
    while True:
        for _ in range(20):
            failed += not learn(net, optimizer) < 1e6
        done += 1
        print(f"done {done} failed {failed}", flush=True)


if __name__ == "__main__":
    main()
