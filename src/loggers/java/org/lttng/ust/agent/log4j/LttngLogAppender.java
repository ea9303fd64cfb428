// SPDX-License-Identifier: LGPL-2.1-or-later
package org.lttng.ust.agent.log4j;

import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.spi.LocationInfo;
import org.apache.log4j.spi.LoggingEvent;
import org.ltt.agent.Events;
import org.ltt.agent.Payload;

/** Records the messages of log4j 1.2 as the event lttng_log4j:event, while a session records it. */
public class LttngLogAppender extends AppenderSkeleton {
	private final LongAdder count = new LongAdder();

	public LttngLogAppender() throws IOException, SecurityException {
	}

	@Override
	protected void append(LoggingEvent event) {
		Events.LOG4J.seen(event.getLoggerName());
		if (!Events.LOG4J.isListened())
			return;
		try {
			String message = event.getRenderedMessage();
			LocationInfo at = event.getLocationInformation();
			Events.LOG4J.emit(Payload.begin()
						  .text(message)
						  .text(event.getLoggerName())
						  .text(at.getClassName())
						  .text(at.getMethodName())
						  .text(at.getFileName())
						  .number(line(at.getLineNumber()))
						  .number(event.getTimeStamp())
						  .number(event.getLevel().toInt())
						  .text(event.getThreadName()));
			count.increment();
		} catch (RuntimeException | LinkageError e) {
			// of the message's toString(), for example
		}
	}

	private static int line(String number) {
		try {
			return Integer.parseInt(number);
		} catch (NumberFormatException e) {
			return -1; // it is not known
		}
	}

	/** Messages that this appender has emitted. */
	public long getEventCount() {
		return count.sum();
	}

	@Override
	public void close() {
	}

	@Override
	public boolean requiresLayout() {
		return false;
	}
}
