#include "bench/cases/calls.h"

#include <functional>
#include <string>

#include "bench/runner/panel.h"

namespace brigade::bench {
namespace {

// They take less than a microsecond: a clock around each would measure the clock.
constexpr int kCallsInARow = 50;

constexpr const char* kTopology = " ";
constexpr int kToAll = -1;
constexpr int kNoCoordinates = -1;

// Where this rank stands, in the grid and among the ranks that take part.
struct Place {
  Place(const Session& session, const BlacsGrid& grid, const char* scope_letter)
      : scope(scope_letter),
        row(session.rank() / grid.cols()),
        col(session.rank() % grid.cols()),
        cols(grid.cols()) {
    switch (scope[0]) {
      case 'R':
        ranks = cols;
        rank = col;
        break;
      case 'C':
        ranks = grid.rows();
        rank = row;
        break;
      default:
        ranks = session.ranks();
        rank = session.rank();
    }
  }
  int RowOf(int member) const {
    return scope[0] == 'R' ? row : scope[0] == 'C' ? member : member / cols;
  }
  int ColOf(int member) const {
    return scope[0] == 'C' ? col : scope[0] == 'R' ? member : member % cols;
  }

  const char* scope;
  int row, col, cols;  // in the grid
  int rank, ranks;     // in the scope
};

// A call that every rank of a scope makes. Turns are counted alike on all ranks.
struct BlacsCall {
  std::string name;
  PanelView panel;  // its shape
  size_t element_bytes = sizeof(double);
  std::function<void(int turn)> set;  // this rank's operands before a verified call
  std::function<void(const BlacsRoutines&, int context, int turn)> run;
  std::function<std::string(int turn)> check;
  std::function<void()> clear;  // operands that any number of calls leave finite
};

void Measure(Session* session, const BlacsCall& call) {
  bool verifying = false;
  std::string wrong;

  Case the_case;
  the_case.name = call.name;
  the_case.rows = call.panel.rows;
  the_case.cols = call.panel.cols;
  the_case.ld = call.panel.ld;
  the_case.bytes = static_cast<size_t>(call.panel.rows * call.panel.cols) * call.element_bytes;
  the_case.hops = kCallsInARow;
  the_case.prepare = [&](int) {
    verifying = true;
    wrong.clear();
  };
  the_case.before_timing = [&] {
    verifying = false;
    call.clear();
  };
  const auto add = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    Subject subject;
    subject.name = name;
    subject.pattern = std::to_string(kCallsInARow) + " in a row";
    subject.run = [&, grid](int first_turn) {
      for (int turn = first_turn; turn < first_turn + kCallsInARow; ++turn) {
        if (verifying) call.set(turn);
        call.run(grid->routines(), grid->context(), turn);
        if (verifying && wrong.empty()) wrong = call.check(turn);
      }
      return Status();
    };
    subject.check = [&](int) { return wrong; };
    the_case.subjects.push_back(std::move(subject));
  };
  add("shim", session->shim());
  add(session->PeerName("stock"), session->stock());
  session->StartTable(call.name);
  session->Measure(the_case);
}

std::string NameOf(const char* routine, bool with_coordinates, const Place& place) {
  return std::string(routine) + (with_coordinates ? " 1 x 1 with coordinates" : " 1 x 1") +
         ", scope " + place.scope;
}

std::string CheckExtreme(double found, double expected, bool with_coordinates, const Place& place,
                         int winner, int row, int col) {
  if (found != expected) {
    return "the result is " + std::to_string(found) + ", not " + std::to_string(expected);
  }
  if (!with_coordinates || (row == place.RowOf(winner) && col == place.ColOf(winner))) return "";
  return "found at {" + std::to_string(row) + ", " + std::to_string(col) + "}, not at {" +
         std::to_string(place.RowOf(winner)) + ", " + std::to_string(place.ColOf(winner)) + "}";
}

// The pivot search: the winner changes from call to call.
void MeasureAbsMax(Session* session, const Place& place, bool with_coordinates) {
  double value = 0;
  int row = 0, col = 0;
  BlacsCall call;
  call.name = NameOf("dgamx2d", with_coordinates, place);
  call.panel = PanelView{nullptr, 1, 1, 1};
  const auto winning = [](int turn) { return -1000.0 - turn; };
  call.set = [&](int turn) {
    value = place.rank == turn % place.ranks ? winning(turn) : place.rank;
    row = col = -1;
  };
  call.run = [&](const BlacsRoutines& blacs, int context, int) {
    blacs.dgamx2d(context, place.scope, kTopology, 1, 1, &value, 1, &row, &col,
                  with_coordinates ? 1 : kNoCoordinates, kToAll, kToAll);
  };
  call.check = [&](int turn) {
    return CheckExtreme(value, winning(turn), with_coordinates, place, turn % place.ranks, row,
                        col);
  };
  call.clear = [&] { value = 0; };
  Measure(session, call);
}

// How ScaLAPACK agrees on an error code.
void MeasureAbsMin(Session* session, const Place& place, bool with_coordinates) {
  int value = 0, row = 0, col = 0;
  BlacsCall call;
  call.name = NameOf("igamn2d", with_coordinates, place);
  call.panel = PanelView{nullptr, 1, 1, 1};
  call.element_bytes = sizeof(int);
  const auto winning = [](int turn) { return -1 - turn; };
  call.set = [&](int turn) {
    value = place.rank == turn % place.ranks ? winning(turn) : 100000 + place.rank;
    row = col = -1;
  };
  call.run = [&](const BlacsRoutines& blacs, int context, int) {
    blacs.igamn2d(context, place.scope, kTopology, 1, 1, &value, 1, &row, &col,
                  with_coordinates ? 1 : kNoCoordinates, kToAll, kToAll);
  };
  call.check = [&](int turn) {
    return CheckExtreme(value, winning(turn), with_coordinates, place, turn % place.ranks, row,
                        col);
  };
  call.clear = [&] { value = 0; };
  Measure(session, call);
}

std::string ShapeOf(const PanelView& panel) {
  return std::to_string(panel.rows) + " x " + std::to_string(panel.cols);
}

void MeasureSum(Session* session, const Place& place, int rows) {
  Panel panel(rows, 1, rows);
  BlacsCall call;
  call.panel = panel.view();
  call.name = "dgsum2d " + ShapeOf(call.panel) + ", scope " + place.scope;
  call.set = [&](int) { Fill(call.panel, place.rank); };
  call.run = [&](const BlacsRoutines& blacs, int context, int) {
    blacs.dgsum2d(context, place.scope, kTopology, rows, 1, call.panel.data, rows, kToAll, kToAll);
  };
  call.check = [&](int) { return CheckSum(call.panel, 0, place.ranks); };
  call.clear = [&] { Clear(call.panel); };
  Measure(session, call);
}

// The root rotates: a broadcast synchronises no rank with the root, but the next root waits for the
// last root's message.
void MeasureBroadcast(Session* session, const Place& place, int rows, int cols) {
  Panel panel(rows, cols, rows);
  BlacsCall call;
  call.panel = panel.view();
  call.name = "dgebs2d, dgebr2d " + ShapeOf(call.panel) + ", scope " + place.scope;
  const auto root_of = [&](int turn) { return turn % place.ranks; };
  call.set = [&](int turn) {
    if (place.rank == root_of(turn)) {
      Fill(call.panel, place.rank);
    } else {
      panel.Poison();
    }
  };
  call.run = [&](const BlacsRoutines& blacs, int context, int turn) {
    const int root = root_of(turn);
    if (place.rank == root) {
      blacs.dgebs2d(context, place.scope, kTopology, rows, cols, call.panel.data, rows);
    } else {
      blacs.dgebr2d(context, place.scope, kTopology, rows, cols, call.panel.data, rows,
                    place.RowOf(root), place.ColOf(root));
    }
  };
  call.check = [&](int turn) { return CheckSum(call.panel, root_of(turn), 1); };
  call.clear = [&] { Clear(call.panel); };
  Measure(session, call);
}

// How LU swaps two rows of a matrix that lie on different process rows. All pairs of ranks at once.
void MeasureRowExchange(Session* session, const BlacsGrid& grid, const Place& place) {
  constexpr int kElements = 64, kLd = 500;
  Panel out(1, kElements, kLd);
  Panel in(1, kElements, kLd);
  const bool between_rows = grid.rows() % 2 == 0;
  const int row = between_rows ? place.row ^ 1 : place.row;
  const int col = between_rows ? place.col : place.col ^ 1;
  BlacsCall call;
  call.panel = out.view();
  call.name = "dgesd2d, dgerv2d " + ShapeOf(call.panel) + " of leading dimension 500";
  call.set = [&](int) {
    Fill(out.view(), session->rank());
    in.Poison();
  };
  call.run = [&](const BlacsRoutines& blacs, int context, int) {
    blacs.dgesd2d(context, 1, kElements, out.view().data, kLd, row, col);
    blacs.dgerv2d(context, 1, kElements, in.view().data, kLd, row, col);
  };
  call.check = [&](int) -> std::string {
    if (!in.GapsUntouched()) return "gaps between columns were written";
    return CheckSum(in.view(), row * grid.cols() + col, 1);
  };
  call.clear = [] {};
  Measure(session, call);
}

}  // namespace

void RunCalls(Session* session) {
  const BlacsGrid* grid = session->shim() != nullptr ? session->shim() : session->stock();
  if (grid == nullptr || session->ranks() % 2 != 0) {
    AbortUnlessOk(Status(StatusCode::kInvalidArgument,
                         "calls needs an even number of ranks, and shim or the reference BLACS"));
  }
  for (const char* scope : {"All", "Row", "Column"}) {
    const Place place(*session, *grid, scope);
    const bool everybody = scope[0] == 'A';
    // In a grid of one row nothing else is worth measuring.
    if (!everybody && grid->rows() == 1) continue;
    for (const bool with_coordinates : {false, true}) {
      MeasureAbsMax(session, place, with_coordinates);
      MeasureAbsMin(session, place, with_coordinates);
    }
    for (int rows : {1, 32}) MeasureSum(session, place, rows);
    MeasureBroadcast(session, place, 1, 1);
    MeasureBroadcast(session, place, 64, 32);
    if (everybody) MeasureRowExchange(session, *grid, place);
  }
}

}  // namespace brigade::bench
